import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { violations } from './architecture.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Planted violations: each changes a copy of the packages, and names the violation that must be found. */
const planted: Record<string, { plant: (packages: string) => void; found: string }> = {
  'a sideways import': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'http-koa/src/app.ts'),
        "import '@plant-store/plant-repository-memory';\n",
      ),
    found: 'packages/http-koa/src/app.ts must not import @plant-store/plant-repository-memory',
  },
  'a storage adapter that imports plant-json': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'plant-repository-memory/src/memory-plant-repository.ts'),
        "import '@plant-store/plant-json';\n",
      ),
    found:
      'packages/plant-repository-memory/src/memory-plant-repository.ts must not import @plant-store/plant-json',
  },
  'plant-json to import a driving adapter': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'plant-json/src/failures.ts'),
        "import '@plant-store/http-koa';\n",
      ),
    found: 'packages/plant-json/src/failures.ts must not import @plant-store/http-koa',
  },
  'a backward import': {
    plant: (packages) =>
      appendFileSync(join(packages, 'domain/src/plant.ts'), "import '@plant-store/http-koa';\n"),
    found: 'packages/domain/src/plant.ts must not import @plant-store/http-koa',
  },
  'a technology in the domain': {
    plant: (packages) =>
      appendFileSync(join(packages, 'domain/src/plant.ts'), "await import('node:fs');\n"),
    found: 'packages/domain/src/plant.ts must not import node:fs',
  },
  'a deep import': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'app/src/health.ts'),
        "export * from '@plant-store/domain/dist/src/plant.js';\n",
      ),
    found: 'packages/app/src/health.ts must not import @plant-store/domain/dist/src/plant.js',
  },
  'an import past the public entry by path': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'app/src/health.ts'),
        "import type {} from '../../domain/src/plant.js';\n",
      ),
    found: 'packages/app/src/health.ts must not import ../../domain/src/plant.js',
  },
  'the connections to know the operation': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'http-koa/src/connection/server.ts'),
        "import '../create-plant/body.js';\n",
      ),
    found: 'packages/http-koa/src/connection/server.ts must not import ../create-plant/body.js',
  },
  'the operation to know the connections': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'http-koa/src/create-plant/body.ts'),
        "import '../connection/server.js';\n",
      ),
    found: 'packages/http-koa/src/create-plant/body.ts must not import ../connection/server.js',
  },
  'the docs to know the operation': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'http-koa/src/docs/serve-docs.ts'),
        "import '../create-plant/body.js';\n",
      ),
    found: 'packages/http-koa/src/docs/serve-docs.ts must not import ../create-plant/body.js',
  },
  'the frame to know the application': {
    plant: (packages) =>
      appendFileSync(join(packages, 'http-koa/src/frame/routes.ts'), "import '../app.js';\n"),
    found: 'packages/http-koa/src/frame/routes.ts must not import ../app.js',
  },
  'the configuration to know the container': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'app/src/configuration/all-settings.ts'),
        "import '../container.js';\n",
      ),
    found: 'packages/app/src/configuration/all-settings.ts must not import ../container.js',
  },
  'the telemetry to know a command': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'app/src/telemetry/metrics.ts'),
        "import '../commands/serve.js';\n",
      ),
    found: 'packages/app/src/telemetry/metrics.ts must not import ../commands/serve.js',
  },
  'a test that is named after no source file': {
    plant: (packages) => writeFileSync(join(packages, 'http-koa/test/frame/helpers.test.ts'), ''),
    found: 'packages/http-koa/test/frame/helpers.test.ts is named after no source file',
  },
  'a folder that no rule names': {
    plant: (packages) => {
      mkdirSync(join(packages, 'app/src/helpers'));
      writeFileSync(join(packages, 'app/src/helpers/text.ts'), 'export const text = 1;\n');
    },
    found: 'packages/app/src/helpers/text.ts is in an unknown folder',
  },
  'a dependency that is not declared': {
    plant: (packages) => appendFileSync(join(packages, 'app/src/health.ts'), "import 'chai';\n"),
    found: 'packages/app/src/health.ts imports chai, which plant-store does not depend on',
  },
  'a dependency in one file that is not declared': {
    plant: (packages) => appendFileSync(join(packages, 'app/src/health.ts'), "import '#chai';\n"),
    found: 'packages/app/src/health.ts imports #chai, which plant-store does not depend on',
  },
  'a dependency that is not used': {
    plant: (packages) =>
      edit(join(packages, 'app/package.json'), (text) =>
        text.replace('"dependencies": {', '"dependencies": { "left-pad": "1.3.0",'),
      ),
    found: 'plant-store depends on left-pad, which it never imports',
  },
  'a project reference that npm does not know': {
    plant: (packages) =>
      edit(join(packages, 'http-koa/tsconfig.json'), (text) =>
        text.replace('"references": [', '"references": [{ "path": "../token-verifier-static" },'),
      ),
    found: 'packages/http-koa/tsconfig.json references other packages than npm does',
  },
  'a client that was not authenticated': {
    plant: (packages) =>
      appendFileSync(
        join(packages, 'http-koa/src/app.ts'),
        "export { authenticatedClient } from '@plant-store/domain';\n",
      ),
    found: 'packages/http-koa/src/app.ts must not make a Client: only token verifiers do',
  },
  'an empty package': {
    plant: (packages) => {
      rmSync(join(packages, 'token-verifier-static/src'), { recursive: true });
      cpSync(join(packages, 'domain/tsconfig.json'), join(packages, 'token-verifier-static/src/x'));
    },
    found: 'packages/token-verifier-static is empty',
  },
  'a package named after nothing': {
    plant: (packages) =>
      edit(join(packages, 'domain/package.json'), (text) =>
        text.replace('@plant-store/domain', '@plant-store/core'),
      ),
    found: 'packages/domain is not named @plant-store/domain',
  },
};

describe('The architecture', () => {
  it('has no import, dependency or reference that breaks its rules', () => {
    expect(violations(root)).to.deep.equal([]);
  });

  for (const [what, { plant, found }] of Object.entries(planted)) {
    it(`does not allow ${what}`, () => {
      const copy = mkdtempSync(join(tmpdir(), 'plant-store-'));
      try {
        cpSync(join(root, 'packages'), join(copy, 'packages'), {
          recursive: true,
          filter: (source) => !/node_modules|[\\/]dist$/.test(source),
        });
        plant(join(copy, 'packages'));
        expect(violations(copy)).to.include(found);
      } finally {
        rmSync(copy, { recursive: true });
      }
    });
  }
});
