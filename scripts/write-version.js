// Writes which version and which commit this build is to a file next to the compiled service. Every place that shows
// the version reads it: `npm run build`, `npm start`, `npm test`, the Dockerfile and the release call this.
//
//   1.2.0+abc1234             the commit with the tag v1.2.0, without a change
//   1.3.0-dev+abc1234         any other commit; the manifests have the version of the next release
//   1.3.0-dev+abc1234.dirty   with changes that are in no commit
//   1.3.0-dev                 without git, as in a downloaded archive: what the manifest says
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const folder = new URL('packages/production/service/dist/src/', root);

/** The version and the commit, from the environment where there is no repository: in the build of an image. */
function identity({ BUILD_VERSION, BUILD_COMMIT } = process.env) {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  if (BUILD_VERSION) return { version: BUILD_VERSION, commit: BUILD_COMMIT || undefined };
  const release = version.replace(/-dev$/, '');
  const { commit, tagged, dirty } = describe(`v${release}`) ?? {};
  if (commit === undefined) return { version };
  const isRelease = tagged && !dirty;
  const build = `${commit.slice(0, 7)}${dirty ? '.dirty' : ''}`;
  return { version: `${release}${isRelease ? '' : '-dev'}+${build}`, commit };
}

/** Describes the commit of the work tree. Undefined without git, and in a folder of another repository. */
function describe(tag) {
  const args = ['--long', '--always', '--dirty', '--abbrev=40', '--tags', '--match', tag];
  const top = git('rev-parse', '--show-prefix');
  if (top !== '\n') return undefined;
  const [, tagged, commit, dirty] =
    /^(?:.*-(\d+)-g)?([\da-f]{40,})(-dirty)?\n$/.exec(git('describe', ...args)) ?? [];
  return { commit, tagged: tagged === '0', dirty: dirty !== undefined };
}

function git(...args) {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  return spawnSync('git', args, { cwd: fileURLToPath(root), encoding: 'utf8', env }).stdout ?? '';
}

mkdirSync(folder, { recursive: true });
writeFileSync(new URL('build.json', folder), `${JSON.stringify(identity())}\n`);
