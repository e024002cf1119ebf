import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../peers.js';

/** A line that is blank, or has only a comment, in code as Biome formats it. */
const NO_CODE = /^\s*(?:$|\/\/|\/?\*)/;
const SCOPE = '@plant-store/';
/** Every implementation needs it. */
const DOMAIN = `${SCOPE}domain`;

const CODE = /(?<!\.d)\.c?[jt]s$/;

/** Returns the folder of each package, by its name without the scope. The rings are in alphabetical order. */
export function packageFolders(top = root): ReadonlyMap<string, string> {
  const foldersIn = (folder: string) =>
    readdirSync(join(top, folder))
      .map((name) => `${folder}/${name}`)
      .filter((it) => statSync(join(top, it)).isDirectory());
  return new Map(
    foldersIn('packages')
      .flatMap(foldersIn)
      .map((folder) => [basename(folder), folder]),
  );
}

/** Returns how many lines of a program have code. */
export function linesOfCode(text: string): number {
  return text.split('\n').filter((line) => !NO_CODE.test(line)).length;
}

/** Counts the lines of code in the `src` of a package, whose folder is given by its path from the repository's. */
export function ownLines(folder: string, top = root): number {
  const source = join(top, folder, 'src');
  const files = readdirSync(source, { encoding: 'utf8', recursive: true });
  return sum(
    files
      .filter((it) => CODE.test(it))
      .map((it) => linesOfCode(readFileSync(join(source, it), 'utf8'))),
  );
}

/**
 * Counts the lines of code in a file, or in a package and the packages of this repository that it depends on.
 *
 * @param top The folder of the repository.
 */
export function linesIn(source: string, top = root): number {
  if (CODE.test(source)) return linesOfCode(readFileSync(join(top, source), 'utf8'));
  return sum([...neededBy(source, top)].map((it) => ownLines(it, top)));
}

/** Returns the folders of a package and of the packages of this repository that it needs, except the domain. */
function neededBy(folder: string, top: string, found = new Set<string>()): ReadonlySet<string> {
  found.add(folder);
  const manifest = readFileSync(join(top, folder, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(manifest);
  const folders = packageFolders(top);
  for (const name of Object.keys(dependencies)) {
    const other =
      name.startsWith(SCOPE) && name !== DOMAIN && folders.get(name.slice(SCOPE.length));
    if (other && !found.has(other)) neededBy(other, top, found);
  }
  return found;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, it) => all + it, 0);
}
