import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FOLDER, makeArtefacts } from './artefacts.js';
import { release } from './changelog.js';
import { notes, problemsOf } from './checks.js';
import { readManifest, root, run } from './project.js';
import { releaseOf, replaceVersion, versionAfter } from './versions.js';

const USAGE = `npm run release -- [VERSION] [--dry-run]

Makes the files of a release in release/: an archive of each package, notes.md from the changelog, and SHA256SUMS. The
same commit makes the same files. Then commits VERSION, tags it, and begins the next one. The default is the version of
the manifests without "-dev"; "Operations and versions" in decision 2 (docs/decisions) has the rules.

  --dry-run  only checks, and makes the files

It is refused if a tracked file has changes, a package has another version, the changelog has nothing under "Unreleased",
or the tag exists. When the tag is pushed, the workflow Release runs all tests, makes the files again, and publishes what
the variables and secrets in .github/workflows/release.yml name.
`;
const { values, positionals } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit();
}
const dryRun = values['dry-run'];
const before = readManifest('.').version;
const version = positionals[0] ?? releaseOf(before);

const problems = problemsOf(version);
if (problems.length > 0) {
  process.stderr.write(`release: ${version} cannot be released:\n  ${problems.join('\n  ')}\n`);
  process.exit(1);
}
if (!dryRun) commitAndTag();
makeArtefacts(notes(), process.env.REPOSITORY_URL);
list();
if (!dryRun) beginNext();

function commitAndTag(): void {
  replaceVersion(before, version);
  release(version);
  run('git', 'commit', '--all', '--message', `chore(release): ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Plant Store ${version}`);
}

/** The first commit after the release has the next version, so that no other commit has the version of the release. */
function beginNext(): void {
  const next = versionAfter(version);
  run('git', 'checkout', 'HEAD~1', '--', '.', ':!CHANGELOG.md');
  replaceVersion(before, next);
  run('git', 'commit', '--all', '--message', `chore(release): begin ${next}`);
  process.stdout.write(`To publish it: git push origin HEAD v${version}\n`);
}

function list(): void {
  for (const name of readdirSync(join(root, FOLDER)).sort()) {
    const bytes = statSync(join(root, FOLDER, name)).size;
    process.stdout.write(`${FOLDER}/${name}  ${Math.ceil(bytes / 1000)} kB\n`);
  }
}
