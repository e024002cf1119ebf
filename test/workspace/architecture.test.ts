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
  ['app/src/configuration/settings.ts', '../container.js'],
  ['app/src/telemetry/metrics.ts', '../commands/serve.js'],
];

type Plant = (files: Map<string, string>) => void;

const replaced =
  (file: string, before: string | RegExp, after: string): Plant =>
  (files) =>
    files.set(file, files.get(file)?.replace(before, after) ?? '');

/** Other violations: each changes the files, and names what must be reported. */
const planted: readonly (readonly [plant: Plant, found: string])[] = [
  [
    replaced('packages/app/src/health.ts', /$/, "import 'chai';\n"),
    'packages/app/src/health.ts imports chai, which plant-store does not depend on',
  ],
  [
    replaced('packages/app/src/health.ts', /$/, "import '#chai';\n"),
    'packages/app/src/health.ts imports #chai, which plant-store does not depend on',
  ],
  [
    (files) => files.set('packages/domain/test/plant.test.ts', "import 'left-pad';\n"),
    'packages/domain/test/plant.test.ts imports left-pad, which @plant-store/domain does not declare for its tests',
  ],
  [
    replaced('packages/http-koa/src/app.ts', /$/, 'authenticatedClient;\n'),
    'packages/http-koa/src/app.ts must not make a Client: only token verifiers do',
  ],
  [
    (files) => files.set('packages/http-koa/test/request/helpers.test.ts', ''),
    'packages/http-koa/test/request/helpers.test.ts is named after no source file',
  ],
  [
    (files) => files.set('packages/app/src/helpers/text.ts', 'export const text = 1;\n'),
    'packages/app/src/helpers/text.ts is in an unknown folder',
  ],
  [
    replaced('packages/app/package.json', '"dependencies": {', '$&"left-pad": "1.3.0",'),
    'plant-store depends on left-pad, which it never imports',
  ],
  [
    replaced(
      'packages/http-koa/tsconfig.json',
      '"references": [',
      '$&{ "path": "../token-verifier-static" },',
    ),
    'packages/http-koa/tsconfig.json references other packages than npm does',
  ],
  [
    (files) => {
      for (const file of files.keys()) {
        if (file.startsWith('packages/token-verifier-static/src/')) files.delete(file);
      }
    },
    'packages/token-verifier-static is empty',
  ],
  [
    replaced('packages/token-verifier-jwt/package.json', 'token-verifier-jwt', 'jwt'),
    'packages/token-verifier-jwt is not named @plant-store/token-verifier-jwt',
  ],
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
    const path = `packages/${file}`;
    files.set(path, `${files.get(path)}${code}\n`);
  }

  function forbidden([file, specifier]: readonly [string, string]): string {
    return `packages/${file} must not import ${specifier}`;
  }

  it('does not allow other violations', () => {
    const files = new Map(project);
    for (const [plant] of planted) plant(files);
    expect(violations(files)).to.include.members(planted.map(([, found]) => found));
  });
});
