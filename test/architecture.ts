import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, normalize, sep } from 'node:path';

/** Files with their texts, by their paths below the root of a project. */
export type Files = ReadonlyMap<string, string>;

const SCOPE = '@plant-store/';

/** Driving adapters are named after their input: `http-koa`, `plants-ndjson`. Only these use `plant-json`. */
const DRIVER = /^(?:http|plants)-/;
const JSON_OF_PLANTS = 'plant-json';

/** Stores on a server use `plant-repository-group-commit`, which is no adapter itself. */
const STORE = /^plant-repository-/;
const SHARED_BY_STORES = 'plant-repository-group-commit';

const TESTS_ONLY = /-contract$/;

/** Runs the contracts, and knows no port. */
const CONTRACT_SUITE = 'contract-suite';

/** The files outside of all folders of a package. */
const TOP = '.';

/** Any folder that has no entry of its own. */
const ANY = '*';

/** The folders that each folder of a package may import. The files outside of the folders may import all of them. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'http-koa': {
    request: [],
    connection: ['request', TOP],
    [ANY]: ['request'],
  },
  'plant-repository-mongodb': {
    connection: [],
    collection: ['connection'],
  },
  app: {
    messages: [],
    telemetry: ['messages', TOP],
    configuration: ['messages'],
    commands: ['messages', 'configuration', TOP],
  },
};

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface Module {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly modules: readonly Module[];
  /** Its tests, and what they share. */
  readonly tests: readonly Module[];
  readonly references: readonly string[];
}

/**
 * Returns every violation of the dependency rule by packages: app → adapters → domain, never
 * sideways, never back, and only through the public entry of a package. `plant-json` is between driving adapters and
 * the domain, `plant-repository-group-commit` between stores and the domain.
 */
export function violations(files: Files): string[] {
  const folders = new Set([...files.keys()].map((file) => file.split('/')[1] ?? ''));
  const packages = [...folders].map((folder) => packageIn(files, folder));
  return packages.flatMap((it) => [
    ...emptiness(it),
    ...misnaming(it),
    ...forbiddenImports(it),
    ...forbiddenFolders(it),
    ...strayTests(it),
    ...undeclaredImports(it),
    ...unusedDependencies(it),
    ...driftedReferences(it),
    ...forgedClients(it),
  ]);
}

/** Reads the files of the packages below `root` that {@link violations} judges. */
export function packageFiles(root: string): Map<string, string> {
  // A folder without a manifest is left over, for example of a tutorial.
  const isPackage = (folder: string) => existsSync(join(root, 'packages', folder, 'package.json'));
  const paths = readdirSync(join(root, 'packages'))
    .filter(isPackage)
    .flatMap((folder) => [
      ...['package.json', 'tsconfig.json'].map((name) => `packages/${folder}/${name}`),
      ...['src', 'test'].flatMap((part) => sourcesIn(root, `packages/${folder}/${part}`)),
    ]);
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file.replaceAll(sep, '/')}`);
}

function emptiness({ folder, modules }: Package): string[] {
  const declares = modules.some(({ text }) => /^(?:export|await) /m.test(text));
  return declares ? [] : [`packages/${folder} is empty`];
}

function misnaming({ folder, manifest }: Package): string[] {
  const expected = folder === 'app' ? 'plant-store' : `${SCOPE}${folder}`;
  return manifest.name === expected ? [] : [`packages/${folder} is not named ${expected}`];
}

function forbiddenImports({ folder, modules }: Package): string[] {
  return modules.flatMap(({ file, imports }) =>
    imports.filter((it) => !mayImport(folder, it)).map((it) => `${file} must not import ${it}`),
  );
}

function mayImport(folder: string, specifier: string): boolean {
  if (specifier.startsWith('.')) return true;
  if (folder === 'domain') return false;
  if (specifier === 'plant-store') return false;
  if (!specifier.startsWith(SCOPE)) return true;
  const imported = specifier.slice(SCOPE.length);
  if (imported.includes('/') || TESTS_ONLY.test(imported)) return false;
  if (folder === CONTRACT_SUITE) return false;
  if (imported === CONTRACT_SUITE) return TESTS_ONLY.test(folder);
  if (imported === JSON_OF_PLANTS) return DRIVER.test(folder);
  if (imported === SHARED_BY_STORES) return STORE.test(folder) || folder === 'app';
  return imported === 'domain' || folder === 'app';
}

/** Relative imports stay inside the package and follow {@link FOLDERS}. */
function forbiddenFolders({ folder, modules }: Package): string[] {
  const source = join('packages', folder, 'src');
  const known = FOLDERS[folder] ?? {};
  return modules.flatMap(({ file, imports }) => {
    const from = partOf(source, file) ?? TOP;
    const allowed = known[from] ?? known[ANY];
    if (from !== TOP && allowed === undefined) return [`${file} is in an unknown folder`];
    return imports
      .filter((it) => it.startsWith('.'))
      .filter((it) => {
        const to = partOf(source, join(dirname(file), it));
        return to === undefined || !(from === TOP || from === to || allowed?.includes(to));
      })
      .map((it) => `${file} must not import ${it}`);
  });
}

/** The folder of a package that contains a file; `undefined` when the file is outside of `src`. */
function partOf(source: string, file: string): string | undefined {
  const path = normalize(file);
  if (!path.startsWith(source + sep)) return undefined;
  const [first = '', ...rest] = path.slice(source.length + 1).split(sep);
  return rest.length === 0 ? TOP : first;
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

function undeclaredImports({ manifest, modules, tests }: Package): string[] {
  const { name, devDependencies } = manifest;
  const declared = installedWith(manifest);
  const ofTests = { [name]: '', ...declared, ...devDependencies };
  const lacking = (all: readonly Module[], known: object, lack: string) =>
    all.flatMap(({ file, imports }) =>
      imports
        .filter((it) => !it.startsWith('.') && !isBuiltin(it) && !(packageOf(it) in known))
        .map((it) => `${file} imports ${it}, which ${name} does not ${lack}`),
    );
  return [
    ...lacking(modules, declared, 'depend on'),
    ...lacking(tests, ofTests, 'declare for its tests'),
  ];
}

/** What npm installs together with a package. */
function installedWith({ dependencies, peerDependencies }: Manifest): Record<string, string> {
  return { ...dependencies, ...peerDependencies };
}

function unusedDependencies({ manifest, modules }: Package): string[] {
  const imported = new Set(modules.flatMap(({ imports }) => imports.map(packageOf)));
  return Object.keys(installedWith(manifest))
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

/** A `Client` is the proof of a verified token, so only token verifiers may make one. */
function forgedClients({ folder, modules }: Package): string[] {
  if (folder === 'domain' || folder.startsWith('token-verifier-')) return [];
  return modules
    .filter(({ text }) => text.includes('authenticatedClient'))
    .map(({ file }) => `${file} must not make a Client: only token verifiers do`);
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
    tests: pathsIn('test').map((path) => moduleOf(path, files.get(path) ?? '', IMPORTS_OF_TESTS)),
  };
}

/** Every form of an import in a source file. */
const IMPORTS = /(?<!['.])\b(?:from|import|import\.meta\.resolve)\s*\(?\s*'([^']+)'/g;
/** The imports at the top of a test, whose texts may look like another form. */
const IMPORTS_OF_TESTS = /^(?:import|(?:import|export|\}) .*?\bfrom) '([^']+)';$/gm;

/** The lines of the examples in doc comments, which import what their readers import. */
const LINES_OF_COMMENTS = /^ +\* .*/gm;

function moduleOf(file: string, text: string, pattern = IMPORTS): Module {
  const code = text.replaceAll(LINES_OF_COMMENTS, '');
  return { file, text, imports: [...code.matchAll(pattern)].map((it) => it[1] ?? '') };
}

/** The package that an import names. */
function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}
