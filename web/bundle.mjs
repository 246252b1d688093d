// SPDX-License-Identifier: GPL-2.0-or-later
// Bundles src/ into one page and writes it, as C, in pieces: what stands before what the page may ask for, before
// the data, and behind it. Usage: node bundle.mjs DIRECTORY
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bundled = ["preact", "uplot", "@dagrejs/dagre", "@dagrejs/graphlib"];
const BYTES_MAX = 1 << 20;	// of the page without its data
const PIECE_BYTES = 8192;

function licenceOf(name) {
	const folder = join(here, "node_modules", name);
	const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map(f => join(folder, f)).find(existsSync);

	return { name, version: manifest.version, licence: manifest.license, text: readFileSync(file, "utf8") };
}

/** Scripts that the page offers: those that are installed, too. */
function exampleScripts() {
	const folder = join(here, "scripts");

	return readdirSync(folder).sort().map(name => ({ name, text: readFileSync(join(folder, name), "utf8").replace(/^-- SPDX[^\n]*\n/, "") }));
}

async function bundle() {
	const result = await build({
		entryPoints: [join(here, "src/main.tsx")],
		absWorkingDir: here,
		outdir: "/nowhere",
		write: false,
		bundle: true,
		minify: true,
		charset: "ascii",
		format: "iife",
		target: ["es2022"],
		legalComments: "none",		// all of them are in LICENCES
		define: { LICENCES: JSON.stringify(bundled.map(licenceOf)), EXAMPLES: JSON.stringify(exampleScripts()) },
	});
	const textOf = ending => result.outputFiles.find(f => f.path.endsWith(ending)).text.trim();

	return { script: textOf(".js"), style: textOf(".css") };
}

const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** A pinched bar. Without an icon in the page, browsers ask the server for one, which its policy forbids. */
const icon = "data:image/svg+xml," + encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M0 1v14L8 8zm16 0v14L8 8z" fill="#c8553d"/></svg>`);

const start = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; `;

function head({ script, style }) {
	return `script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="pinch">
<title>pinch</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<div id="app"><noscript>This report is drawn by a script that it contains: allow it to run.</noscript></div>
`;
}

const tail = ({ script }) => `<script>${script}</script>\n</body>\n</html>\n`;

/** Strings of C; three octal digits end an escape whatever comes next. */
function asC(text) {
	const escape = byte => byte === 10 ? "\\n" : byte === 34 || byte === 92 ? "\\" + String.fromCharCode(byte)
		: byte < 32 || byte > 126 || byte === 63 ? "\\" + byte.toString(8).padStart(3, "0")
		: String.fromCharCode(byte);
	const bytes = Buffer.from(text);
	const lines = [];

	for (let at = 0; at < bytes.length; at += PIECE_BYTES)
		lines.push('"' + Array.from(bytes.subarray(at, at + PIECE_BYTES), escape).join("") + '",');
	return "/* Made by web/bundle.mjs. */\n" + lines.join("\n") + "\n";
}

const page = await bundle();
const [before, behind] = [head(page), tail(page)];
const bytes = Buffer.byteLength(start + before + behind);

if (bytes > BYTES_MAX)
	throw new Error(`the page takes ${bytes} bytes, more than ${BYTES_MAX}`);
writeFileSync(join(process.argv[2], "report_start.inc"), asC(start));
writeFileSync(join(process.argv[2], "report_head.inc"), asC(before));
writeFileSync(join(process.argv[2], "report_tail.inc"), asC(behind));
