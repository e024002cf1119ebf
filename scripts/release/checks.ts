import { changesOf, UNRELEASED } from './changelog.js';
import { type Manifest, readManifest, run, workspaces } from './project.js';
import { releaseOf } from './versions.js';

/** Returns why this state cannot be released as a version, in sentences. */
export function problemsOf(version: string): string[] {
  const current = readManifest('.').version;
  return [
    ...(run('git', 'status', '--porcelain', '--untracked-files=no') === ''
      ? []
      : ['the work tree has changes. Commit them, or put them aside']),
    ...versionProblems(current),
    ...(current === version ? taggedProblems(version) : untaggedProblems(version)),
  ];
}

/** Problems of the commit of a release, from which its files are made. */
function taggedProblems(version: string): string[] {
  const tags = run('git', 'tag', '--points-at', 'HEAD').split('\n');
  return [
    ...(tags.includes(`v${version}`) ? [] : [`this commit does not have the tag v${version}`]),
    ...(changesOf(version) ? [] : [`CHANGELOG.md has no changes of ${version}`]),
  ];
}

/** Problems of a state on the way to a release. */
function untaggedProblems(version: string): string[] {
  return [
    ...(/^\d+\.\d+\.\d+$/.test(version) ? [] : [`${version} is not a version such as 2.3.0`]),
    ...(run('git', 'tag', '--list', `v${version}`) === '' ? [] : [`the tag v${version} exists`]),
    ...(changesOf(UNRELEASED) ? [] : [`CHANGELOG.md has no changes under "${UNRELEASED}"`]),
  ];
}

/** Every package has the version of the workspace, and needs the others in exactly this version. */
function versionProblems(version: string): string[] {
  const manifests = workspaces().map(({ manifest }) => manifest);
  const names = new Set(manifests.map(({ name }) => name));
  return manifests.flatMap((manifest) => {
    const own = manifest.version === version ? [] : [`${manifest.name} has ${manifest.version}`];
    const needed = dependenciesOf(manifest)
      .filter(([name, needs]) => names.has(name) && needs !== version)
      .map(([name, needs]) => `${manifest.name} needs ${name} ${needs}`);
    return [...own, ...needed].map((problem) => `${problem}, but the workspace has ${version}`);
  });
}

function dependenciesOf({ dependencies, devDependencies }: Manifest) {
  return Object.entries({ ...dependencies, ...devDependencies });
}

/** Returns the part of the changelog that belongs to this state. */
export function notes(): string {
  const { version } = readManifest('.');
  return changesOf(releaseOf(version) === version ? version : UNRELEASED);
}
