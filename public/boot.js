// Starts the app, or says on the page why it did not start. The `html` element carries the outcome as `data-app`:
// `ready` or `failed`.
//
// A classic script, so that it also runs where modules are refused (a page opened as a file) and can say so. Trunk
// writes the names of the app's files, which change with their content, into the attributes of the script element.
(function () {
  "use strict";
  var own = document.currentScript;
  var root = document.documentElement;
  var app = document.getElementById("app");

  function address(attribute) {
    return new URL(own.getAttribute(attribute), document.baseURI).href;
  }

  function element(tag, text) {
    var made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  function fail(advice, detail) {
    var box = document.createElement("section");
    box.className = "boot-failure";
    box.setAttribute("role", "alert");
    box.append(element("h1", "rooflens could not start"), element("p", advice));
    if (detail) box.append(element("pre", detail));
    var again = element("button", "Reload");
    again.type = "button";
    again.addEventListener("click", function () { location.reload(); });
    box.append(again);
    var main = document.createElement("main");
    main.append(box);
    app.replaceChildren(main);
    app.removeAttribute("aria-busy");
    root.dataset.app = "failed";
  }

  // The theme that was chosen, before anything is painted. It is the only thing that is stored.
  try {
    var theme = localStorage.getItem("rooflens-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (error) { /* Storage is off: the system's theme it is. */ }

  // Pages that are served without TLS have no clipboard of their own; the older way to copy still works there.
  if (!navigator.clipboard) {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: function (text) {
      var area = element("textarea", text);
      area.style.position = "fixed";
      area.style.opacity = "0";
      (document.querySelector("dialog[open]") || document.body).append(area);
      area.select();
      var done = document.execCommand("copy");
      area.remove();
      return done ? Promise.resolve() : Promise.reject(new Error("copying was refused"));
    } } });
  }

  // Brings what is in an element to new markup, for the app: here, since every step of it would cross from WebAssembly
  // and back. What is the same stays as it is: laid out, focused, selected, and unfolded by hand. If something in it
  // that has `data-act` had the focus and is another one now, its successor gets it.
  window.bring = function (place, markup) {
    function act() {
      var active = document.activeElement;
      return place.contains(active) ? active.getAttribute("data-act") : null;
    }
    var before = act();
    var made = document.createElement("div");
    made.innerHTML = markup;
    children(place, made);
    if (before !== null && act() !== before) {
      var next = place.querySelector("[data-act=" + JSON.stringify(before) + "]");
      if (next) next.focus();
    }
  };

  function children(old, made) {
    var mine = old.firstChild, other = made.firstChild;
    while (mine || other) {
      var a = mine, b = other;
      mine = a && a.nextSibling;
      other = b && b.nextSibling;
      if (!a) old.appendChild(b);
      else if (!b) old.removeChild(a);
      else if (a.isEqualNode(b)) continue;
      else if (a.nodeName !== b.nodeName) old.replaceChild(b, a);
      else if (a.nodeType !== Node.ELEMENT_NODE) a.nodeValue = b.nodeValue;
      else {
        // Whether something is unfolded is up to whoever reads it.
        a.getAttributeNames().forEach(function (name) {
          if (name !== "open" && !b.hasAttribute(name)) a.removeAttribute(name);
        });
        b.getAttributeNames().forEach(function (name) {
          var value = b.getAttribute(name);
          if (name !== "open" && a.getAttribute(name) !== value) a.setAttribute(name, value);
        });
        children(a, b);
      }
    }
  }

  // On paper, the link stands below what was printed.
  window.addEventListener("beforeprint", function () { document.body.dataset.link = location.href; });

  // Moving to another screen can change how many pixels a pixel is without resizing anything; charts listen to `resize`.
  (function sharpen() {
    if (typeof matchMedia !== "function") return;
    var query = matchMedia("(resolution: " + devicePixelRatio + "dppx)");
    if (!query.addEventListener) return;
    query.addEventListener("change", function () {
      window.dispatchEvent(new Event("resize"));
      sharpen();
    }, { once: true });
  })();

  // After a panic nothing in the page answers any more: say so, and save what there is to save, the address.
  window.addEventListener("error", function (event) {
    if (typeof WebAssembly !== "object" || !(event.error instanceof WebAssembly.RuntimeError) || document.getElementById("panic")) return;
    var box = element("dialog", "");
    box.id = "panic";
    box.className = "boot-failure";
    box.setAttribute("role", "alertdialog");
    box.setAttribute("aria-labelledby", "panic-title");
    var title = element("h1", "rooflens has stopped");
    title.id = "panic-title";
    var copy = element("button", "Copy link");
    var again = element("button", "Reload");
    copy.type = again.type = "button";
    copy.addEventListener("click", function () {
      navigator.clipboard.writeText(location.href).then(
        function () { copy.textContent = "Copied"; },
        function () { copy.textContent = "Copy it from the address bar"; });
    });
    again.addEventListener("click", function () { location.reload(); });
    box.append(title, element("p", "That is a fault of this page, not of your input. The link holds what was set up last."),
      element("pre", String(event.error)), copy, document.createTextNode(" "), again);
    document.body.append(box);
    box.showModal();
  });

  if (typeof WebAssembly !== "object") {
    fail("This browser has no WebAssembly, or it is switched off. Any current browser has it.");
    return;
  }
  // In the single file, the packed module stands in the page.
  var packed = document.getElementById("module");
  if (!packed && location.protocol === "file:") {
    fail("Browsers do not load an app from a file. Serve this folder over HTTP, for example with `make serve`, or make the single file with `make single`.");
    return;
  }
  function unpacked() {
    var bytes = Uint8Array.from(atob(packed.textContent), function (letter) { return letter.charCodeAt(0); });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  // The text of a file of facts beside the page, for the app and for the measuring desk: fetched once. A sentence says
  // why there is none. The single file holds them itself.
  var facts = {};
  window.fact = function (name) {
    function failed(what) {
      throw name + " could not be loaded (" + what + "). Reload the page to try again.";
    }
    var held = document.getElementById(name);
    facts[name] = facts[name] || (held ? Promise.resolve(held.textContent) :
      fetch(name).then(function (answer) {
        if (!answer.ok) failed("status " + answer.status);
        return answer.text().catch(function () { failed("cut off"); });
      }, function () { failed("no answer"); }));
    // The next one to ask tries again.
    facts[name].catch(function () { delete facts[name]; });
    return facts[name];
  };

  // The measuring desk is a module of its own in a worker, loaded after the first paint. Its first message says that it
  // listens; the facts of models, which it does not hold itself, are what it hears first.
  window.openDesk = function () {
    // Nothing but a table needs the measurements.
    var measured = window.fact("served-tpot.csv").catch(function () { return ""; });
    var needed = ["classes.json", "presets.json"].map(window.fact);
    return Promise.all(needed.concat(measured)).then(function (facts) {
      var worker = desk();
      worker.addEventListener("message", function () {
        worker.postMessage(["facts"].concat(facts));
      }, { once: true });
      return worker;
    });
  };
  function desk() {
    var held = document.getElementById("desk-module");
    if (!held) return new Worker(new URL("desk.js", document.baseURI).href);
    var glue = document.getElementById("desk-glue").textContent;
    var start = ";var module=Uint8Array.from(atob(" + JSON.stringify(held.textContent) + "),function(c){return c.charCodeAt(0)});" +
      "new Response(new Blob([module]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()" +
      ".then(function(module){return wasm_bindgen({module_or_path:module})});";
    return new Worker(URL.createObjectURL(new Blob([glue, start], { type: "text/javascript" })));
  }

  (packed
    ? unpacked().then(function (module) { return wasm_bindgen({ module_or_path: module }); })
    : import(address("data-js"))
      .then(function (bindings) { return bindings.default({ module_or_path: address("data-wasm") }); }))
    .then(function () {
      app.removeAttribute("aria-busy");
      root.dataset.app = "ready";
    })
    .catch(function (error) {
      fail("A part of it did not load, or does not run in this browser. Your link is unchanged.", String(error));
    });
})();
