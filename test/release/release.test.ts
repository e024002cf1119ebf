import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsProgram } from '@plant-store/test-servers/programs';
import { expect } from 'chai';
import { ProjectCopy } from '../documents/support/project-copy.js';
import { published, readManifest, tarballOf } from '../support/manifest.js';
import { root } from '../support/root.js';

/** Nothing of the machine's own settings. */
const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'A maintainer',
  GIT_AUTHOR_EMAIL: 'maintainer@example.com',
  GIT_COMMITTER_NAME: 'A maintainer',
  GIT_COMMITTER_EMAIL: 'maintainer@example.com',
};
const REPOSITORY_URL = 'git+https://example.com/plants/plant-store.git';
const [RELEASE, NEXT] = ['7.0.0', '7.1.0-dev'];
const env = { ...process.env, ...GIT, REPOSITORY_URL };
const versionBefore = readManifest(root).version;

describe('A release', function () {
  this.timeout(300_000);
  let copy: ProjectCopy;

  before(function () {
    needsProgram(this, 'git');
    copy = new ProjectCopy(root);
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'a state of the project');
  });

  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: copy.folder, encoding: 'utf8', env }).trim();
  const path = (...names: string[]) => join(copy.folder, ...names);
  const read = (file: string) => readFileSync(path(file), 'utf8');

  function release(...args: string[]) {
    const command = ['run', '--silent', 'release', '--', ...args];
    return spawnSync('npm', command, { cwd: copy.folder, encoding: 'utf8', env });
  }

  function expectMade(...args: string[]): void {
    const { status, stderr } = release(...args);
    expect(status, stderr).to.equal(0);
  }

  /** A file in the archive of the service. */
  function packed(file: string) {
    const args = ['-xzOf', path('release', `plant-store-${RELEASE}.tgz`), `package/${file}`];
    return JSON.parse(execFileSync('tar', args, { encoding: 'utf8' }));
  }

  const manifest = 'packages/essential/plant-json/package.json';
  const needs = /plant-json has 0\.9\.0[\s\S]*needs @plant-store\/domain 0\.9\.0/;
  const unreleased = /(?<=## Unreleased\n)[\s\S]*/g;
  const none = /CHANGELOG\.md has no changes under "Unreleased"/;
  for (const [title, version, reason, file, before, after] of [
    ['of changes in the work tree', RELEASE, /the work tree has changes/, 'README.md', '#', ''],
    ['of packages with other versions', RELEASE, needs, manifest, `"${versionBefore}"`, '"0.9.0"'],
    ['of a changelog without changes', RELEASE, none, 'CHANGELOG.md', unreleased, ''],
    ['of a version that npm refuses', 'v7', /v7 is not a version such as/, manifest, '', ''],
  ] as const) {
    it(`is refused because ${title}`, () => {
      writeFileSync(path(file), read(file).replaceAll(before, after));
      const { status, stderr } = release(version);
      expect(stderr).to.match(reason);
      expect([status, git('tag')]).to.deep.equal([1, '']);
      git('checkout', '--quiet', '.');
    });
  }

  describe('that was made', () => {
    let changes: string;
    before(() => {
      changes = /## Unreleased\n([\s\S]*?)(?:\n## |$)/.exec(read('CHANGELOG.md'))?.[1] ?? '';
      expectMade(RELEASE);
    });

    it('has an archive per package, notes and checksums', () => {
      const others = ['SHA256SUMS', 'notes.md'];
      const archives = published.map(({ manifest }) => tarballOf(manifest, RELEASE));
      expect(readdirSync(path('release')).sort()).to.deep.equal([...others, ...archives].sort());
      const sums = read('release/SHA256SUMS').trim().split('\n');
      expect(sums).to.have.lengthOf(archives.length + 1);
      for (const line of sums) {
        const [sum, name = ''] = line.split('  ');
        const bytes = readFileSync(path('release', name));
        expect(createHash('sha256').update(bytes).digest('hex'), name).to.equal(sum);
      }
    });

    it('has a tagged commit, followed by one that begins the next version', () => {
      const subjects = git('log', '--format=%s%d', '-2').replace('HEAD -> ', '').split('\n');
      expect(subjects).to.deep.equal([
        `chore(release): begin ${NEXT} (main)`,
        `chore(release): ${RELEASE} (tag: v${RELEASE})`,
      ]);
      expect(git('status', '--porcelain')).to.equal('');
      expect(readManifest(copy.folder).version).to.equal(NEXT);
      const kubernetes = 'deploy/kubernetes/base/kustomization.yaml';
      for (const [state, own] of Object.entries({ HEAD: NEXT, [`v${RELEASE}`]: RELEASE })) {
        for (const file of ['package-lock.json', 'Dockerfile', kubernetes]) {
          const text = git('show', `${state}:${file}`);
          expect(text, file).to.include(own).and.not.include(versionBefore);
        }
      }
    });

    it('has archives with version, commit and repository, and notes from the changelog', () => {
      const commit = git('rev-parse', `v${RELEASE}^{commit}`);
      const build = { version: `${RELEASE}+${commit.slice(0, 7)}`, commit };
      expect(packed('dist/src/build.json')).to.deep.equal(build);
      const { dependencies, repository } = packed('package.json');
      expect(dependencies).to.include({ '@plant-store/domain': RELEASE });
      const place = { type: 'git', url: REPOSITORY_URL, directory: 'packages/production/service' };
      expect(repository).to.deep.equal(place);
      const files = `](https://example.com/plants/plant-store/blob/${commit}/`;
      const notes = read('release/notes.md');
      expect(notes).to.include(`${files}docs/`);
      expect(notes.replaceAll(files, '](').trim()).to.equal(changes.trim());
    });

    it('can be built again from its tag, byte for byte', () => {
      const before = read('release/SHA256SUMS');
      git('checkout', '--quiet', `v${RELEASE}`);
      expectMade('--dry-run');
      expect(read('release/SHA256SUMS')).to.equal(before);
      expect([git('status', '--porcelain'), git('tag')]).to.deep.equal(['', `v${RELEASE}`]);
      git('checkout', '--quiet', 'main');
    });
  });
});
