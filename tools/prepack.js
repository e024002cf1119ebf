// `npm pack` and `npm publish` run this in the folder of a package, and pack what it adds: the licence, and the entry
// for CommonJS. `index.cjs` loads the same module, so that a class exists once. TypeScript before 5.8, and every version
// with `"module": "node16"`, refuses the types of an ES module in CommonJS, so `index.d.cts` repeats the names of its
// exports, with the same types.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const BUILT = resolve('dist/src');
const ENTRY = join(BUILT, 'index.js');
const ESM = `'./index.js' with { 'resolution-mode': 'import' };`;

/** Returns the declarations of all files of the package in one text. */
function declarations() {
  const files = readdirSync(BUILT, { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  return files.map((file) => readFileSync(join(BUILT, file), 'utf8')).join('\n');
}

/** Returns the lines that export a value. A class is a type, too. */
function exported(name, text) {
  const value = `export declare const ${name}: typeof esm.${name};`;
  const isClass = new RegExp(`^export declare (?:abstract )?class ${name}\\b`, 'm').test(text);
  return isClass ? [value, `export type ${name} = esm.${name};`] : [value];
}

copyFileSync('../../LICENSE', 'LICENSE');
if (existsSync(ENTRY)) {
  const names = Object.keys(await import(pathToFileURL(ENTRY)));
  const text = declarations();
  const lines = [
    `import type * as esm from ${ESM}`,
    `export type * from ${ESM}`,
    ...names.flatMap((name) => exported(name, text)),
  ];
  writeFileSync(join(BUILT, 'index.d.cts'), `${lines.join('\n')}\n`);
  writeFileSync(join(BUILT, 'index.cjs'), "module.exports = require('./index.js');\n");
}
