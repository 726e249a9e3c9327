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

  if (typeof WebAssembly !== "object") {
    fail("This browser has no WebAssembly, or it is switched off. Any current browser has it.");
    return;
  }
  if (location.protocol === "file:") {
    fail("Browsers do not load an app from a file. Serve this folder over HTTP, for example with `make serve`.");
    return;
  }
  import(address("data-js"))
    .then(function (bindings) { return bindings.default({ module_or_path: address("data-wasm") }); })
    .then(function () {
      app.removeAttribute("aria-busy");
      root.dataset.app = "ready";
    })
    .catch(function (error) {
      fail("A part of it did not load, or does not run in this browser. Your link is unchanged.", String(error));
    });
})();
