import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../peers.js';

/** A line that is blank, or has only a comment, in code as Biome formats it. */
const NO_CODE = /^\s*(?:$|\/\/|\/?\*)/;
const SCOPE = '@plant-store/';
/** Every rung needs it. */
const DOMAIN = `${SCOPE}domain`;

/** Returns the folder of a package, whatever its ring. */
function folderOf(name: string, top: string): string {
  const ring = readdirSync(join(top, 'packages')).find((it) =>
    existsSync(join(top, 'packages', it, name)),
  );
  return `packages/${ring}/${name}`;
}

/** Returns how many lines of a program have code. */
export function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !NO_CODE.test(line)).length;
}

/**
 * Counts the lines of code in a file, or in a package and the packages of this repository that it depends on.
 *
 * @param top The folder of the repository.
 */
export function linesIn(source: string, top = root): number {
  const read = (path: string) => readFileSync(join(top, source, path), 'utf8');
  if (source.endsWith('.ts')) return linesOfCode(read(''));
  const { dependencies = {} } = JSON.parse(read('package.json'));
  const others = Object.keys(dependencies).filter((it) => it.startsWith(SCOPE) && it !== DOMAIN);
  const files = readdirSync(join(top, source, 'src'), { encoding: 'utf8', recursive: true });
  return [
    ...files.filter((it) => it.endsWith('.ts')).map((file) => `${source}/src/${file}`),
    ...others.map((name) => folderOf(name.slice(SCOPE.length), top)),
  ].reduce((lines, it) => lines + linesIn(it, top), 0);
}
