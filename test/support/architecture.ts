import { basename, dirname, join, relative } from 'node:path';
import type { Manifest } from './manifest.js';
import { filesBelow } from './markdown.js';
import { read, root } from './root.js';

/** Files with their texts, by their paths below the root of a project. */
export type Files = ReadonlyMap<string, string>;

const SCOPE = '@plant-store/';

const MANIFEST = /^packages\/([^/]+\/[^/]+)\/package\.json$/;
const JUDGED = /^packages\/[^/]+\/[^/]+\/(?:package\.json|tsconfig\.json|(?:src|test)\/.*\.ts)$/;

/** The rings whose packages a ring may name, even in its tests. */
const RINGS: Readonly<Record<string, readonly string[]>> = {
  essential: ['essential', 'testing'],
  testing: ['essential', 'testing'],
  production: ['essential', 'production', 'testing'],
};

/** These can be used without any other package. */
const ALONE = ['domain', 'http-server', 'contract-suite', 'explorer', 'faulty-network'];

/** These import adapters, and connect them. */
const COMPOSITION_ROOTS = ['app', 'service'];

/** What an adapter may import: the ports, and code that several adapters need. */
const INSIDE = ['domain', 'plant-json', 'plant-reader', 'plant-repository-group-commit'];

/** The only adapters that import another one, by `docs/decisions/0001-ports-and-adapters-as-packages.md`. */
const BUILDS_ON: Readonly<Record<string, string>> = {
  'http-operations': 'http-koa',
  'plant-repository-mongodb-batched': 'plant-repository-mongodb',
};

/** The files outside of all folders of a package. */
const TOP = '.';

/** The folders that each folder of a package may import. The files outside of the folders may import all of them. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'production/http-operations': {
    docs: [TOP],
  },
  'production/service': {
    messages: [],
    telemetry: ['messages', TOP],
    configuration: ['messages'],
    commands: ['messages', 'configuration', TOP],
  },
};

interface Module {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly modules: readonly Module[];
  readonly tests: readonly Module[];
  readonly references: readonly string[];
}

/** The ring of each package of the project. */
type Rings = ReadonlyMap<string, string>;

/** Returns every violation of the rules by packages: app → adapters → domain, never sideways, and never back. */
export function violations(files: Files): string[] {
  // A folder without a manifest is left over, for example of a tutorial.
  const folders = [...files.keys()].flatMap((file) => MANIFEST.exec(file)?.[1] ?? []);
  const packages = folders.map((folder) => packageIn(files, folder));
  const rings = new Map(folders.map((folder) => [basename(folder), dirname(folder)]));
  return packages.flatMap((it) => [
    ...forbiddenImports(it, rings),
    ...forbiddenFolders(it),
    ...strayTests(it),
    ...unusedDependencies(it),
    ...driftedReferences(it),
  ]);
}

/** Reads the files of the packages that {@link violations} judges. */
export function packageFiles(): Map<string, string> {
  const paths = filesBelow(join(root, 'packages')).map((path) => relative(root, path));
  return new Map(paths.filter((path) => JUDGED.test(path)).map((path) => [path, read(path)]));
}

function forbiddenImports({ folder, modules, tests }: Package, rings: Rings): string[] {
  const own = basename(folder);
  const isOutside = (specifier: string) => {
    const ring = rings.get(nameOf(specifier));
    return ring !== undefined && !RINGS[dirname(folder)]?.includes(ring);
  };
  const isForbidden = (specifier: string) =>
    rings.has(nameOf(specifier))
      ? isOutside(specifier) || !mayImport(own, nameOf(specifier), rings)
      : own === 'domain' && !specifier.startsWith('.');
  return [...importsThat(isForbidden, modules), ...importsThat(isOutside, tests)];
}

function importsThat(areWrong: (it: string) => boolean, modules: readonly Module[]): string[] {
  return modules.flatMap(({ file, imports }) =>
    imports.filter(areWrong).map((it) => `${file} must not import ${it}`),
  );
}

/** Whether the source of a package may import another package of the project. */
function mayImport(own: string, other: string, rings: Rings): boolean {
  if (ALONE.includes(own)) return false;
  if (rings.get(other) === 'testing') return own.endsWith('-contract');
  return COMPOSITION_ROOTS.includes(own) || INSIDE.includes(other) || BUILDS_ON[own] === other;
}

function packageOf(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]*/.exec(specifier)?.[0] ?? '';
}

/** The name of a package, without our scope. */
function nameOf(specifier: string): string {
  return packageOf(specifier).replace(SCOPE, '');
}

/** Relative imports stay inside the package and follow {@link FOLDERS}. */
function forbiddenFolders({ folder, modules }: Package): string[] {
  /** The folder below `src` that contains a file, and `..` outside of it. */
  const folderOf = (file: string) => {
    const [first = '', ...rest] = relative(`packages/${folder}/src`, file).split('/');
    return rest.length === 0 ? TOP : first;
  };
  const known = FOLDERS[folder] ?? {};
  return modules.flatMap(({ file, imports }) => {
    const from = folderOf(file);
    const allowed = known[from];
    if (from !== TOP && allowed === undefined) return [`${file} is in an unknown folder`];
    return imports
      .filter((it) => it.startsWith('.'))
      .filter((it) => {
        const to = folderOf(join(dirname(file), it));
        return to === '..' || !(from === TOP || from === to || allowed?.includes(to));
      })
      .map((it) => `${file} must not import ${it}`);
  });
}

/** A test has the path and name of its source file: `src/a/b.ts` has `test/a/b.test.ts` or `test/a/b.<case>.test.ts`. */
function strayTests({ modules, tests }: Package): string[] {
  const sources = modules.map(({ file }) => file.replace('/src/', '/test/').replace(/\.ts$/, ''));
  return tests
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => !sources.includes(join(dirname(file), basename(file).split('.')[0] ?? '')))
    .map((file) => `${file} is named after no source file`);
}

function unusedDependencies({ manifest, modules }: Package): string[] {
  const imported = new Set(modules.flatMap(({ imports }) => imports.map(packageOf)));
  const { dependencies, peerDependencies } = manifest;
  return Object.keys({ ...dependencies, ...peerDependencies })
    .filter((it) => !imported.has(it.replace(/^@types\//, '')))
    .map((it) => `${manifest.name} depends on ${it}, which it never imports`);
}

/** TypeScript follows the references, npm the dependencies: both must agree. */
function driftedReferences({ folder, manifest, references }: Package): string[] {
  const expected = Object.keys(manifest.dependencies ?? {})
    .filter((it) => it.startsWith(SCOPE))
    .map((it) => it.slice(SCOPE.length));
  const agrees = expected.sort().join() === [...references].sort().join();
  return agrees ? [] : [`packages/${folder}/tsconfig.json references other packages than npm does`];
}

function packageIn(files: Files, folder: string): Package {
  const base = `packages/${folder}`;
  const modulesIn = (part: string) =>
    [...files]
      .filter(([path]) => path.startsWith(`${base}/${part}/`))
      .map(([path, text]) => moduleOf(path, text));
  const json = (name: string) => JSON.parse(files.get(`${base}/${name}`) ?? '{}');
  const { references = [] } = json('tsconfig.json') as { references?: { path: string }[] };
  return {
    folder,
    manifest: json('package.json') as Manifest,
    references: references.map(({ path }) => basename(path)),
    modules: modulesIn('src'),
    tests: modulesIn('test'),
  };
}

/** Every form of an import in a source file. */
const IMPORTS = /(?<!['.])\b(?:from|import|import\.meta\.resolve)\s*\(?\s*'([^']+)'/g;

function moduleOf(file: string, text: string): Module {
  // The examples of doc comments import what their readers import.
  const code = text.replaceAll(/^ +\* .*/gm, '');
  return { file, text, imports: [...code.matchAll(IMPORTS)].map((it) => it[1] ?? '') };
}
