import { expect } from 'chai';
import { packageFiles, violations } from '../support/architecture.js';

const project = packageFiles();

/** Imports that break a rule, with the source file that they are added to. */
const imports: readonly (readonly [file: string, specifier: string])[] = [
  ['http-koa/src/app.ts', '@plant-store/plant-repository-memory'],
  ['plant-repository-memory/src/memory-plant-repository.ts', '@plant-store/plant-json'],
  [
    'token-verifier-static/src/static-token-verifier.ts',
    '@plant-store/plant-repository-group-commit',
  ],
  ['plant-json/src/failures-of-create.ts', '@plant-store/http-koa'],
  ['plant-repository-memory/src/memory-plant-repository.ts', '@plant-store/contract-suite'],
  ['contract-suite/src/settled.ts', '@plant-store/domain'],
  ['domain/src/plant.ts', '@plant-store/http-koa'],
  ['domain/src/plant.ts', 'node:fs'],
  ['app/src/health.ts', '@plant-store/domain/dist/src/plant.js'],
  ['app/src/health.ts', '../../domain/src/plant.js'],
  ['http-server/src/server.ts', '@plant-store/http-koa'],
  ['http-server/src/server.ts', '@plant-store/domain'],
  ['http-koa/src/request/observe.ts', '../app.js'],
  ['app/src/configuration/stores.ts', '../container.js'],
  ['app/src/telemetry/metrics.ts', '../commands/serve.js'],
  ['app/src/commands/serve.ts', '../telemetry/logger.js'],
];

/** A part of a file, by its path in `packages`, and what replaces it. */
type Change = readonly [file: string, before: string | RegExp, after: string];

/** Other violations: changes of files, which may be new, and a part of what must be reported. */
const planted: readonly (readonly [...Change, found: string])[] = [
  ['http-koa/test/request/a.test.ts', /$/, '', 'a.test.ts is named after no source file'],
  ['app/src/helpers/text.ts', /$/, 'export const text = 1;\n', 'is in an unknown folder'],
  ['app/package.json', '"dependencies": {', '$&"left-pad": "1.3.0",', 'which it never imports'],
  ['http-koa/tsconfig.json', '"references": [', '$&{ "path": "../new" },', 'other packages than'],
  ['new/package.json', /$/, '{ "name": "@plant-store/old" }', 'packages/new is empty'],
  ['new/tsconfig.json', /$/, '{}', 'packages/new is not named @plant-store/new'],
];

/** Returns the violations of the project after these changes. */
function violationsAfter(changes: readonly Change[]): string[] {
  const files = new Map(project);
  for (const [file, before, after] of changes) {
    const path = `packages/${file}`;
    files.set(path, (files.get(path) ?? '').replace(before, after));
  }
  return violations(files);
}

const adding = (file: string, code: string): Change => [file, /$/, `${code}\n`];

describe('The rules of the architecture', () => {
  it('are kept by every import, dependency and reference', () => {
    expect(violations(project)).to.deep.equal([]);
    expect(project).to.include.keys('packages/essential/domain/test/plant.test.ts');
  });

  it('do not mistake Buffer.from or an example in a comment for an import', () => {
    const calls = "Buffer.from('00ff', 'hex'); Array.from('abc');";
    const example = "/**\n * @example\n * import { x } from '@plant-store/http-koa';\n */";
    const changes = [calls, example].map((code) => adding('domain/src/plant.ts', code));
    expect(violationsAfter(changes)).to.deep.equal([]);
  });

  it('catch every import that breaks one of them', () => {
    const found = violationsAfter(imports.map(([file, it]) => adding(file, `import '${it}';`)));
    const forbidden = imports.map(([file, it]) => `packages/${file} must not import ${it}`);
    expect(found).to.include.members(forbidden);
  });

  for (const form of [
    "await import('node:fs')",
    "import type {} from 'node:fs'",
    "export * from 'node:fs'",
  ]) {
    it(`recognise every form of an import: ${form}`, () => {
      const found = violationsAfter([adding('domain/src/plant.ts', form)]);
      expect(found).to.deep.equal(['packages/essential/domain/src/plant.ts must not import node:fs']);
    });
  }

  it('catch every other violation', () => {
    const found = violationsAfter(planted.map(([file, before, after]) => [file, before, after]));
    for (const [, , , part] of planted) expect(found.join('\n')).to.include(part);
  });
});
