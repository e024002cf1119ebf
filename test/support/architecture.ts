import { basename, dirname, join, relative } from 'node:path';
import type { Manifest } from './manifest.js';
import { filesBelow } from './markdown.js';
import { read, root } from './root.js';

/** Files with their texts, by their paths below the root of a project. */
export type Files = ReadonlyMap<string, string>;

const SCOPE = '@plant-store/';

const MANIFEST = /^packages\/([^/]+\/[^/]+)\/package\.json$/;
const JUDGED = /^packages\/[^/]+\/[^/]+\/(?:package\.json|tsconfig\.json|(?:src|test)\/.*\.ts)$/;

/**
 * The packages that a package may import, and no file inside of them. The first row that has its folder counts. What is
 * essential imports nothing of production.
 */
const ALLOWED: readonly (readonly [importer: RegExp, imported: RegExp])[] = [
  [
    /^(?:essential\/domain|production\/http-server|testing\/(?:contract-suite|explorer|faulty-network))$/,
    /^$/,
  ],
  [
    /^testing\/plant-reader-contract$/,
    /^(?:domain|contract-suite|plant-reader|plant-repository-contract(?:\/(?:steps|values))?)$/,
  ],
  [/^testing\/.*-contract$/, /^(?:domain|contract-suite)$/],
  [/^essential\/http-koa$/, /^(?:domain|plant-json)$/],
  [
    /^essential\/app$/,
    /^(?:domain|http-koa|plant-repository-memory|plant-repository-mongodb|token-verifier-static)$/,
  ],
  [/^production\/plants-ndjson$/, /^(?:domain|plant-json|plant-reader)$/],
  [/^production\/http-operations$/, /^(?:domain|http-koa)$/],
  // This rung of the ladder builds on the one below it.
  [
    /^production\/plant-repository-mongodb-batched$/,
    /^(?:domain|plant-reader|plant-repository-group-commit|plant-repository-mongodb)$/,
  ],
  [/^production\/plant-repository-/, /^(?:domain|plant-reader|plant-repository-group-commit)$/],
  [
    /^production\/service$/,
    /^(?:app\/application|(?!app$|plant-json$|contract-suite$|explorer$|faulty-network$|.*-contract$)[^/]+)$/,
  ],
  [/^/, /^domain$/],
];

/** The files outside of all folders of a package. */
const TOP = '.';

/** Any folder that has no entry of its own. */
const ANY = '*';

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
  readonly tests: readonly string[];
  readonly references: readonly string[];
}

/** Returns every violation of the rules by packages: app → adapters → domain, never sideways, and never back. */
export function violations(files: Files): string[] {
  // A folder without a manifest is left over, for example of a tutorial.
  const folders = [...files.keys()].flatMap((file) => MANIFEST.exec(file)?.[1] ?? []);
  const packages = folders.map((folder) => packageIn(files, folder));
  return packages.flatMap((it) => [
    ...emptiness(it),
    ...misnaming(it),
    ...forbiddenImports(it),
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

function emptiness({ folder, modules }: Package): string[] {
  const declares = modules.some(({ text }) => /^(?:export|await) /m.test(text));
  return declares ? [] : [`packages/${folder} is empty`];
}

function misnaming({ folder, manifest }: Package): string[] {
  const expected = folder === 'production/service' ? 'plant-store' : `${SCOPE}${basename(folder)}`;
  return manifest.name === expected ? [] : [`packages/${folder} is not named ${expected}`];
}

function forbiddenImports({ folder, modules }: Package): string[] {
  return modules.flatMap(({ file, imports }) =>
    imports.filter((it) => !mayImport(folder, it)).map((it) => `${file} must not import ${it}`),
  );
}

function mayImport(folder: string, specifier: string): boolean {
  if (!specifier.startsWith(SCOPE))
    return folder !== 'essential/domain' || specifier.startsWith('.');
  const [, imported] = ALLOWED.find(([importer]) => importer.test(folder)) ?? [];
  return imported?.test(specifier.slice(SCOPE.length)) === true;
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
    const allowed = known[from] ?? known[ANY];
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
    .filter((file) => !sources.includes(join(dirname(file), basename(file).split('.')[0] ?? '')))
    .map((file) => `${file} is named after no source file`);
}

function unusedDependencies({ manifest, modules }: Package): string[] {
  const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]*/.exec(specifier)?.[0];
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
  const pathsIn = (part: string) =>
    [...files.keys()].filter((path) => path.startsWith(`${base}/${part}/`));
  const json = (name: string) => JSON.parse(files.get(`${base}/${name}`) ?? '{}');
  const { references = [] } = json('tsconfig.json') as { references?: { path: string }[] };
  return {
    folder,
    manifest: json('package.json') as Manifest,
    references: references.map(({ path }) => basename(path)),
    modules: pathsIn('src').map((path) => moduleOf(path, files.get(path) ?? '')),
    tests: pathsIn('test').filter((path) => path.endsWith('.test.ts')),
  };
}

/** Every form of an import in a source file. */
const IMPORTS = /(?<!['.])\b(?:from|import|import\.meta\.resolve)\s*\(?\s*'([^']+)'/g;

function moduleOf(file: string, text: string): Module {
  // The examples of doc comments import what their readers import.
  const code = text.replaceAll(/^ +\* .*/gm, '');
  return { file, text, imports: [...code.matchAll(IMPORTS)].map((it) => it[1] ?? '') };
}
