import { expect } from 'chai';
import { packageFiles, violations } from '../support/architecture.js';

const project = packageFiles();

/** Imports that break a rule, with the source file that they are added to. */
const imports: readonly (readonly [file: string, specifier: string])[] = [
  ['essential/http-koa/src/create-app.ts', '@plant-store/plant-repository-memory'],
  ['essential/token-verifier-static/test/token-digest.test.ts', '@plant-store/token-verifier-jwt'],
  ['testing/token-verifier-contract/src/index.ts', '@plant-store/token-verifier-jwt'],
  ['production/plant-repository-postgresql/src/index.ts', '@plant-store/plant-repository-mongodb'],
  ['production/service/src/health.ts', '@plant-store/faulty-network'],
  ['testing/contract-suite/src/settled.ts', '@plant-store/domain'],
  ['essential/domain/src/plant.ts', 'node:fs'],
  ['production/service/src/health.ts', '../../../essential/domain/src/plant.js'],
  ['production/http-server/src/server.ts', '@plant-store/domain'],
  ['essential/app/src/container.ts', '@plant-store/http-operations'],
  ['production/service/src/configuration/stores.ts', '../container.js'],
  ['production/service/src/commands/serve.ts', '../telemetry/logger.js'],
];

/** A part of a file, by its path in `packages`, and what replaces it. */
type Change = readonly [file: string, before: string | RegExp, after: string];

/** Other violations: changes of files, which may be new, and a part of what must be reported. */
const planted: readonly (readonly [...Change, found: string])[] = [
  ['essential/http-koa/test/a.test.ts', /$/, '', 'a.test.ts is named after no source file'],
  [
    'production/service/src/helpers/text.ts',
    /$/,
    'export const text = 1;\n',
    'is in an unknown folder',
  ],
  [
    'production/service/package.json',
    '"dependencies": {',
    '$&"left-pad": "1.3.0",',
    'which it never imports',
  ],
  [
    'essential/http-koa/tsconfig.json',
    '"references": [',
    '$&{ "path": "../new" },',
    'other packages than',
  ],
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
    const changes = [calls, example].map((code) => adding('essential/domain/src/plant.ts', code));
    expect(violationsAfter(changes)).to.deep.equal([]);
  });

  it('catch every import that breaks one of them', () => {
    const found = violationsAfter(imports.map(([file, it]) => adding(file, `import '${it}';`)));
    const forbidden = imports.map(([file, it]) => `packages/${file} must not import ${it}`);
    expect(found).to.include.members(forbidden);
  });

  it('recognise every form of an import', () => {
    for (const form of ['await import(#)', 'import type {} from #', 'export * from #']) {
      const code = form.replace('#', "'node:fs'");
      const found = violationsAfter([adding('essential/domain/src/plant.ts', code)]);
      expect(found.join(), form).to.match(/domain\/src\/plant\.ts must not import node:fs$/);
    }
  });

  it('catch every other violation', () => {
    const found = violationsAfter(planted.map(([file, before, after]) => [file, before, after]));
    for (const [, , , part] of planted) expect(found.join('\n')).to.include(part);
  });
});
