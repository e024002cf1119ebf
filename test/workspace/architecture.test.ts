import { basename, dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import type { Manifest } from '../support/manifest.js';
import { filesBelow } from '../support/markdown.js';
import { read, root } from '../support/root.js';

/** Files with their texts, by their paths below the root of the project. */
type Files = ReadonlyMap<string, string>;

const SCOPE = '@plant-store/';
const MANIFEST = /^packages\/([^/]+\/[^/]+)\/package\.json$/;
const JUDGED = /^packages\/[^/]+\/[^/]+\/(?:package\.json|tsconfig\.json|(?:src|test)\/.*\.ts)$/;
/** Every form of an import in a source file. */
const IMPORTS = /(?<!['.])\b(?:from|import|import\.meta\.resolve)\s*\(?\s*'([^']+)'/g;

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
  'production/http-operations': { docs: [TOP] },
  'production/service': {
    messages: [],
    telemetry: ['messages', TOP],
    configuration: ['messages'],
    commands: ['messages', 'configuration', TOP],
  },
};

const project = new Map(
  filesBelow(join(root, 'packages'))
    .map((path) => relative(root, path))
    .filter((path) => JUDGED.test(path))
    .map((path) => [path, read(path)]),
);

const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]*/.exec(specifier)?.[0] ?? '';
const nameOf = (specifier: string) => packageOf(specifier).replace(SCOPE, '');

/** Returns every violation of the rules by packages: app → adapters → domain, never sideways, and never back. */
function violations(files: Files): string[] {
  // A folder without a manifest is left over, for example of a tutorial.
  const folders = [...files.keys()].flatMap((file) => MANIFEST.exec(file)?.[1] ?? []);
  const rings = new Map(folders.map((folder) => [basename(folder), dirname(folder)]));
  return folders.flatMap((folder) => violationsIn(folder, files, rings));
}

function violationsIn(folder: string, files: Files, rings: ReadonlyMap<string, string>): string[] {
  const base = `packages/${folder}`;
  const own = basename(folder);
  /** Whether the source, or a test, may import a module outside of the package. */
  function mayImport(specifier: string, isTest: boolean): boolean {
    const other = nameOf(specifier);
    const ring = rings.get(other);
    if (ring === undefined) return isTest || own !== 'domain';
    if (!RINGS[dirname(folder)]?.includes(ring)) return false;
    if (isTest) return true;
    if (ALONE.includes(own)) return false;
    if (ring === 'testing') return own.endsWith('-contract');
    return COMPOSITION_ROOTS.includes(own) || INSIDE.includes(other) || BUILDS_ON[own] === other;
  }
  /** The folder below `src` that contains a file, and `..` outside of it. */
  function folderOf(file: string): string {
    const [first = '', ...rest] = relative(`${base}/src`, file).split('/');
    return rest.length === 0 ? TOP : first;
  }
  function mayReach(file: string, specifier: string): boolean {
    const [from, to] = [folderOf(file), folderOf(join(dirname(file), specifier))];
    if (to === '..') return false;
    return from === TOP || from === to || FOLDERS[folder]?.[from]?.includes(to) === true;
  }

  const json = (name: string) => JSON.parse(files.get(`${base}/${name}`) ?? '{}');
  const { name, dependencies = {}, peerDependencies } = json('package.json') as Manifest;
  const unused = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
  const found: string[] = [];
  for (const [file, text] of files) {
    if (!file.startsWith(`${base}/`) || !file.endsWith('.ts')) continue;
    const isTest = file.startsWith(`${base}/test/`);
    // The examples of doc comments import what their readers import.
    const imports = [...text.replaceAll(/^ +\* .*/gm, '').matchAll(IMPORTS)].map(
      (it) => it[1] ?? '',
    );
    for (const it of imports) {
      const isAllowed = it.startsWith('.') ? isTest || mayReach(file, it) : mayImport(it, isTest);
      if (!isAllowed) found.push(`${file} must not import ${it}`);
      if (!isTest)
        for (const used of [packageOf(it), `@types/${packageOf(it)}`]) unused.delete(used);
    }
    const isKnown = folderOf(file) === TOP || FOLDERS[folder]?.[folderOf(file)] !== undefined;
    if (!isTest && !isKnown) found.push(`${file} is in an unknown folder`);
    const tested = file.replace('/test/', '/src/').replace(/(\/[^/.]+)\.[^/]*$/, '$1.ts');
    if (file.endsWith('.test.ts') && !files.has(tested))
      found.push(`${file} is named after no source file`);
  }
  for (const it of unused) found.push(`${name} depends on ${it}, which it never imports`);
  // TypeScript follows the references, npm the dependencies.
  const references = (json('tsconfig.json').references ?? []).map(
    (it: { path: string }) => it.path,
  );
  const internal = Object.keys(dependencies).filter((it) => it.startsWith(SCOPE));
  if (
    internal.map(nameOf).sort().join() !==
    references
      .map((it: string) => basename(it))
      .sort()
      .join()
  )
    found.push(`${base}/tsconfig.json references other packages than npm does`);
  return found;
}

/** Code that breaks a rule, with the file that it is added to, and what must be reported. */
const planted: readonly (readonly [file: string, code: string, found: string])[] = [
  ...(
    [
      ['essential/http-koa/src/create-app.ts', '@plant-store/plant-repository-memory'],
      ['essential/token-verifier-static/test/token-digest.test.ts', '@plant-store/plant-reader'],
      ['testing/token-verifier-contract/src/index.ts', '@plant-store/token-verifier-jwt'],
      ['production/service/src/health.ts', '@plant-store/faulty-network'],
      ['production/service/src/health.ts', '../../../essential/domain/src/plant.js'],
      ['essential/domain/src/plant.ts', 'node:fs'],
      ['production/service/src/commands/serve.ts', '../telemetry/logger.js'],
    ] as const
  ).map(([file, it]) => [file, `await import('${it}');`, `must not import ${it}`] as const),
  ['essential/http-koa/test/a.test.ts', '', 'a.test.ts is named after no source file'],
  ['production/service/src/helpers/text.ts', 'export {};', 'text.ts is in an unknown folder'],
];

describe('The rules of the architecture', () => {
  it('are kept by every import, dependency and reference', () => {
    expect(violations(project)).to.deep.equal([]);
    expect(project).to.include.keys('packages/essential/domain/test/plant.test.ts');
  });

  for (const [file, code, found] of planted) {
    it(`catch that ${file}: ${found}`, () => {
      const path = `packages/${file}`;
      const changed = new Map(project).set(path, `${project.get(path) ?? ''}${code}\n`);
      expect(violations(changed).join('\n')).to.include(found);
    });
  }
});
