import { expect } from 'chai';
import { packageFiles, violations } from '../architecture.js';
import { root } from '../root.js';

const project = packageFiles(root);

/** Imports that break a rule, with the source file that they are added to. */
const imports: readonly (readonly [file: string, specifier: string])[] = [
  ['http-koa/src/app.ts', '@plant-store/plant-repository-memory'],
  ['plant-repository-memory/src/memory-plant-repository.ts', '@plant-store/plant-json'],
  [
    'token-verifier-static/src/static-token-verifier.ts',
    '@plant-store/plant-repository-group-commit',
  ],
  ['plant-json/src/failures.ts', '@plant-store/http-koa'],
  ['plant-repository-memory/src/memory-plant-repository.ts', '@plant-store/contract-suite'],
  ['contract-suite/src/settled.ts', '@plant-store/domain'],
  ['domain/src/plant.ts', '@plant-store/http-koa'],
  ['domain/src/plant.ts', 'node:fs'],
  ['app/src/health.ts', '@plant-store/domain/dist/src/plant.js'],
  ['app/src/health.ts', '../../domain/src/plant.js'],
  ['http-koa/src/connection/server.ts', '../create-plant/create-plant.js'],
  ['http-koa/src/create-plant/create-plant.ts', '../connection/server.js'],
  ['http-koa/src/request/routes.ts', '../app.js'],
  ['app/src/configuration/storages.ts', '../container.js'],
  ['app/src/telemetry/metrics.ts', '../commands/serve.js'],
  ['app/src/commands/serve.ts', '../telemetry/logger.js'],
];

/** A part of a file, by its path in `packages`, and what replaces it. */
type Change = readonly [file: string, before: string | RegExp, after: string];

/** Other violations: changes of files, which may be new, and a part of what must be reported. */
const planted: readonly (readonly [...Change, found: string])[] = [
  ['app/src/health.ts', /$/, "import 'chai';\n", 'plant-store does not depend on'],
  ['domain/test/plant.test.ts', /^/, "import 'left-pad';\n", 'does not declare for its tests'],
  ['http-koa/src/app.ts', /$/, 'authenticatedClient;\n', 'only token verifiers do'],
  ['http-koa/test/request/a.test.ts', /$/, '', 'a.test.ts is named after no source file'],
  ['app/src/helpers/text.ts', /$/, 'export const text = 1;\n', 'is in an unknown folder'],
  ['app/package.json', '"dependencies": {', '$&"left-pad": "1.3.0",', 'which it never imports'],
  ['http-koa/tsconfig.json', '"references": [', '$&{ "path": "../new" },', 'other packages than'],
  ['new/package.json', /$/, '{ "name": "@plant-store/old" }', 'packages/new is empty'],
  ['new/tsconfig.json', /$/, '{}', 'packages/new is not named @plant-store/new'],
];

describe('The architecture', () => {
  it('has no import, dependency or reference that breaks its rules', () => {
    expect(violations(project)).to.deep.equal([]);
  });

  it('does not take a call such as Buffer.from, or the example of a doc comment, for an import', () => {
    const files = new Map(project);
    add(files, 'domain/src/plant.ts', "Buffer.from('00ff', 'hex'); Array.from('abc');");
    const example = "/**\n * @example\n * import { x } from '@plant-store/http-koa';\n */";
    add(files, 'domain/src/plant.ts', example);
    expect(violations(files)).to.deep.equal([]);
  });

  it('does not allow these imports', () => {
    const files = new Map(project);
    for (const [file, specifier] of imports) add(files, file, `import '${specifier}';`);
    expect(violations(files)).to.include.members(imports.map(forbidden));
  });

  it('knows every form of an import', () => {
    for (const form of [
      "await import('node:fs')",
      "import type {} from 'node:fs'",
      "export * from 'node:fs'",
    ]) {
      const files = new Map(project);
      add(files, 'domain/src/plant.ts', form);
      expect(violations(files)).to.include(forbidden(['domain/src/plant.ts', 'node:fs']));
    }
  });

  function add(files: Map<string, string>, file: string, code: string): void {
    replace(files, [file, /$/, `${code}\n`]);
  }

  function forbidden([file, specifier]: readonly [string, string]): string {
    return `packages/${file} must not import ${specifier}`;
  }

  it('does not allow other violations', () => {
    const files = new Map(project);
    for (const [file, before, after] of planted) replace(files, [file, before, after]);
    const found = violations(files).join('\n');
    for (const [, , , part] of planted) expect(found).to.include(part);
  });
});

function replace(files: Map<string, string>, [file, before, after]: Change): void {
  const path = `packages/${file}`;
  files.set(path, (files.get(path) ?? '').replace(before, after));
}
