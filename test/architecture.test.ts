import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { packageFiles, violations } from './architecture.js';

const project = packageFiles(fileURLToPath(new URL('../..', import.meta.url)));

/** Statements that break a rule: what they are, the source file they are added to, and what is reported about the file. */
const statements: readonly (readonly [what: string, file: string, code: string, found: string])[] =
  [
    [
      'a sideways import',
      'http-koa/src/app.ts',
      "import '@plant-store/plant-repository-memory';",
      'must not import @plant-store/plant-repository-memory',
    ],
    [
      'a storage adapter that imports plant-json',
      'plant-repository-memory/src/memory-plant-repository.ts',
      "import '@plant-store/plant-json';",
      'must not import @plant-store/plant-json',
    ],
    [
      'a token verifier that imports what stores use',
      'token-verifier-static/src/static-token-verifier.ts',
      "import '@plant-store/plant-repository-sql';",
      'must not import @plant-store/plant-repository-sql',
    ],
    [
      'a store that imports what token verifiers use',
      'plant-repository-memory/src/memory-plant-repository.ts',
      "import '@plant-store/token-verifier-keys';",
      'must not import @plant-store/token-verifier-keys',
    ],
    [
      'plant-json to import a driving adapter',
      'plant-json/src/failures.ts',
      "import '@plant-store/http-koa';",
      'must not import @plant-store/http-koa',
    ],
    [
      'an adapter that imports the contract suite',
      'plant-repository-memory/src/memory-plant-repository.ts',
      "import '@plant-store/contract-suite';",
      'must not import @plant-store/contract-suite',
    ],
    [
      'a contract suite that knows a port',
      'contract-suite/src/settled.ts',
      "import '@plant-store/domain';",
      'must not import @plant-store/domain',
    ],
    [
      'a backward import',
      'domain/src/plant.ts',
      "import '@plant-store/http-koa';",
      'must not import @plant-store/http-koa',
    ],
    [
      'a technology in the domain',
      'domain/src/plant.ts',
      "await import('node:fs');",
      'must not import node:fs',
    ],
    [
      'a deep import',
      'app/src/health.ts',
      "export * from '@plant-store/domain/dist/src/plant.js';",
      'must not import @plant-store/domain/dist/src/plant.js',
    ],
    [
      'an import past the public entry by path',
      'app/src/health.ts',
      "import type {} from '../../domain/src/plant.js';",
      'must not import ../../domain/src/plant.js',
    ],
    [
      'the connections to know the operation',
      'http-koa/src/connection/server.ts',
      "import '../create-plant/body.js';",
      'must not import ../create-plant/body.js',
    ],
    [
      'the operation to know the connections',
      'http-koa/src/create-plant/body.ts',
      "import '../connection/server.js';",
      'must not import ../connection/server.js',
    ],
    [
      'the docs to know the operation',
      'http-koa/src/docs/serve-docs.ts',
      "import '../create-plant/body.js';",
      'must not import ../create-plant/body.js',
    ],
    [
      'the frame to know the application',
      'http-koa/src/frame/routes.ts',
      "import '../app.js';",
      'must not import ../app.js',
    ],
    [
      'the configuration to know the container',
      'app/src/configuration/all-settings.ts',
      "import '../container.js';",
      'must not import ../container.js',
    ],
    [
      'the telemetry to know a command',
      'app/src/telemetry/metrics.ts',
      "import '../commands/serve.js';",
      'must not import ../commands/serve.js',
    ],
    [
      'a dependency that is not declared',
      'app/src/health.ts',
      "import 'chai';",
      'imports chai, which plant-store does not depend on',
    ],
    [
      'a dependency in one file that is not declared',
      'app/src/health.ts',
      "import '#chai';",
      'imports #chai, which plant-store does not depend on',
    ],
    [
      'a client that was not authenticated',
      'http-koa/src/app.ts',
      "export { authenticatedClient } from '@plant-store/domain';",
      'must not make a Client: only token verifiers do',
    ],
  ];

type Plant = (files: Map<string, string>) => void;

const replaced =
  (file: string, before: string, after: string): Plant =>
  (files) =>
    files.set(file, files.get(file)?.replace(before, after) ?? '');

/** Other violations: each changes the files, and names what must be reported. */
const planted: readonly (readonly [what: string, plant: Plant, found: string])[] = [
  [
    'a test that is named after no source file',
    (files) => files.set('packages/http-koa/test/frame/helpers.test.ts', ''),
    'packages/http-koa/test/frame/helpers.test.ts is named after no source file',
  ],
  [
    'a folder that no rule names',
    (files) => files.set('packages/app/src/helpers/text.ts', 'export const text = 1;\n'),
    'packages/app/src/helpers/text.ts is in an unknown folder',
  ],
  [
    'a dependency that is not used',
    replaced('packages/app/package.json', '"dependencies": {', '$&"left-pad": "1.3.0",'),
    'plant-store depends on left-pad, which it never imports',
  ],
  [
    'a project reference that npm does not know',
    replaced(
      'packages/http-koa/tsconfig.json',
      '"references": [',
      '$&{ "path": "../token-verifier-static" },',
    ),
    'packages/http-koa/tsconfig.json references other packages than npm does',
  ],
  [
    'an empty package',
    (files) => {
      for (const file of files.keys()) {
        if (file.startsWith('packages/token-verifier-static/src/')) files.delete(file);
      }
    },
    'packages/token-verifier-static is empty',
  ],
  [
    'a package named after nothing',
    replaced('packages/domain/package.json', '@plant-store/domain', '@plant-store/core'),
    'packages/domain is not named @plant-store/domain',
  ],
];

describe('The architecture', () => {
  it('has no import, dependency or reference that breaks its rules', () => {
    expect(violations(project)).to.deep.equal([]);
  });

  it('does not take a call such as Buffer.from for an import', () => {
    const path = 'packages/domain/src/plant.ts';
    const code = "Buffer.from('00ff', 'hex'); Array.from('abc');\n";
    const files = new Map(project).set(path, `${project.get(path)}${code}`);
    expect(violations(files)).to.deep.equal([]);
  });

  for (const [what, file, code, found] of statements) {
    it(`does not allow ${what}`, () => {
      const path = `packages/${file}`;
      const files = new Map(project).set(path, `${project.get(path)}${code}\n`);
      expect(violations(files)).to.include(`${path} ${found}`);
    });
  }

  for (const [what, plant, found] of planted) {
    it(`does not allow ${what}`, () => {
      const files = new Map(project);
      plant(files);
      expect(violations(files)).to.include(found);
    });
  }
});
