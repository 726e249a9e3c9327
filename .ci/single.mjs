// Makes one HTML file of the built page, which opens from disk: `make single`.
//
// Reads dist/ and the compiled module beside it, and writes dist-single/rooflens.html. Everything is inlined: styles,
// the glue (as a classic script, since modules do not load from files), the data, and the module, packed. The policy
// allows exactly these scripts and styles, by their hashes, and no request at all.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [dist, target, out] = ["dist", "target/single", "dist-single"];
const wasm = process.env.CARGO_TARGET_DIR ?? "target";
mkdirSync(target, { recursive: true });
mkdirSync(out, { recursive: true });
const run = (tool, ...args) => execFileSync(tool, args, { stdio: "inherit" });
run("wasm-bindgen", "--target", "no-modules", "--no-typescript", "--out-dir", target, "--out-name", "rooflens",
  `${wasm}/wasm32-unknown-unknown/web/rooflens-web.wasm`);
run("wasm-opt", "-Oz", "--low-memory-unused", "--zero-filled-memory", `${target}/rooflens_bg.wasm`, "-o", `${target}/rooflens.wasm`);
// The desk was built for a classic worker, which is what a page from disk can start.

const text = (path) => readFileSync(path, "utf8");
const file = (end) => `${dist}/${readdirSync(dist).find((name) => name.endsWith(end))}`;
const hash = (content) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
// Inside a script element, a `<` could begin its end.
const data = (id, content) => `<script type="application/json" id="${id}">${content.replaceAll("<", "\\u003c")}</script>`;

const style = text(file(".css"));
const glue = text(`${target}/rooflens.js`);
const boot = text("public/boot.js");
const deskGlue = text(`${dist}/rooflens-desk.js`);
const packed = (path) => gzipSync(readFileSync(path), { level: 9 }).toString("base64");
const icon = `data:image/svg+xml;base64,${readFileSync(file(".svg")).toString("base64")}`;
if (/<\/script/i.test(glue + boot + deskGlue) || /<\/style/i.test(style)) throw new Error("a part would end its own element");
const policy = `default-src 'none'; script-src ${hash(glue)} ${hash(boot)} 'wasm-unsafe-eval'; worker-src blob:; style-src ${hash(style)}; ` +
  `style-src-attr 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;

let html = text(`${dist}/index.html`)
  .replace(/<link[^>]*(stylesheet|preload|modulepreload|icon)[^>]*>\s*/g, "")
  .replace(/<script[^>]*boot\.js[^>]*><\/script>\s*/g, "")
  .replace(/(http-equiv="?Content-Security-Policy"? content=)"[^"]*"/i, () => `http-equiv="Content-Security-Policy" content="${policy}"`.slice(0))
  .replace("</head>", () => `<link rel="icon" href="${icon}"><style>${style}</style></head>`)
  .replace("</body>", () => [
    data("classes.json", text(`${dist}/classes.json`)),
    data("presets.json", text(`${dist}/presets.json`)),
    `<script type="text/plain" id="served-tpot.csv">${text(`${dist}/served-tpot.csv`)}</script>`,
    `<script type="text/plain" id="module">${packed(`${target}/rooflens.wasm`)}</script>`,
    `<script type="text/plain" id="desk-module">${packed(`${dist}/rooflens-desk_bg.wasm`)}</script>`,
    `<script type="text/plain" id="desk-glue">${deskGlue}</script>`,
    `<script>${glue}</script><script>${boot}</script></body>`,
  ].join("\n"));
if (!html.includes(policy)) throw new Error("the policy was not put in");
writeFileSync(`${out}/rooflens.html`, html);
console.log(`single: ${out}/rooflens.html, ${html.length} bytes`);
