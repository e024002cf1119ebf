import { existsSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import {
  anchorsOf,
  type CodeBlock,
  type Markdown,
  readDocument,
  readDocuments,
} from '../support/markdown.js';
import { read, root } from '../support/root.js';
import { followed, tutorials } from '../support/tutorial.js';

const documents = readDocuments(root);

/** Variables that are not settings of the service. */
const OTHERS =
  'PATH CI TOKEN MONGOMS_SYSTEM_BINARY POSTGRESQL_BIN CHROMIUM_PATH FUZZ_SEED FUZZ_FACTOR MONGODB_URL DATABASE_URL APP_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_USE_ENV_PROXY HTTPS_PROXY KC_HOSTNAME ELECTION_MS FAULTS DD_DBM_PROPAGATION_MODE LC_ALL';

/** A variable has an underscore or a value; another word in capitals may be anything, such as `SELECT`. */
const VARIABLE = /^[A-Z][A-Z0-9]*(?:(?:_[A-Z0-9]+)+(?:=.*)?|=.*)$/;

const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
/** The commands of `plant-store`, from its `--help`. */
const commands = [
  ...read('packages/production/service/src/main.ts').matchAll(/^ {2}([a-z-]+) {2,}/gm),
].map(([, word = '']) => word);
const configuration = join(
  root,
  'packages/production/service/dist/src/configuration/configuration.js',
);
const { settings } = await import(pathToFileURL(configuration).href);
const settingNames = Object.keys(settings);
const secrets = settingNames.filter((name) => settings[name].secret);
const files = secrets.map((name) => `${name}_FILE`);
const variables = new Set([...settingNames, ...files, ...OTHERS.split(' ')]);

/** Returns the problems of a page, each after its path. */
const CHECKS: Readonly<Record<string, (page: Markdown) => string[]>> = {
  'have no broken links': brokenLinks,
  'name files that exist': missingFiles,
  'name commands that exist': unknownCommands,
  'name variables that exist': unknownVariables,
};

/** The control of the checks: in each pair, the first is wrong. */
const WRONG: Markdown = {
  path: 'docs/page.md',
  prose: `[a](gone.md) [d](errors.md#errors) [b](errors.md#gone) [e](https://x)
    \`docs/gone.md\` \`docs/errors.md\` \`npm run gone\` \`npm run build\` \`GONE_TOO\` \`PORT\``,
  blocks: [
    {
      language: 'sh',
      file: undefined,
      text: 'GONE=1 plant-store gone\nPORT=1 plant-store check\n',
      line: 1,
    },
  ],
};
const FOUND = [
  'gone.md',
  'errors.md#gone',
  'docs/gone.md',
  'npm run gone',
  'plant-store gone',
  'GONE_TOO',
  'GONE',
];

describe('The documents', () => {
  for (const [title, problemsOf] of Object.entries(CHECKS)) {
    it(title, () => expect(documents.flatMap(problemsOf)).to.deep.equal([]));
  }

  it('would not pass with a wrong link, file, command or variable', () => {
    const found = Object.values(CHECKS).flatMap((problemsOf) => problemsOf(WRONG));
    expect(found).to.deep.equal(FOUND.map((it) => `docs/page.md: ${it}`));
  });

  it('list every page and every decision by its title', () => {
    const titles = (folder: string) =>
      documents.filter(({ path }) => dirname(path) === folder && basename(path) !== 'README.md');
    for (const { path } of titles('docs')) {
      expect(read('docs/README.md')).to.include(`](${basename(path)})`);
    }
    for (const { path, prose } of titles('docs/decisions')) {
      const title = /^# \d+\. (.+)/.exec(prose)?.[1];
      expect(read('docs/decisions/README.md')).to.include(`[${title}](${basename(path)})`);
    }
  });

  it('say which Node.js versions were tested, wherever they say which one you need', () => {
    const [, versions = ''] = /node: \[(.+)\]/.exec(read('.github/workflows/ci.yml')) ?? [];
    const tested = versions.split(', ').map((it) => it.replaceAll("'", ''));
    const shown = documents.flatMap(
      ({ prose }) => prose.match(/need\w* (?:.* )?Node\.js .*/g) ?? [],
    );
    expect(shown).to.have.length.above(2);
    for (const text of shown) expect(text).to.include(`${tested.at(0)} to ${tested.at(-1)}`);
  });

  it('name the headers that a page of another origin can read: docs/clients.md', () => {
    const code = read('packages/production/http-operations/src/cors.ts');
    const [, exposed = ''] = /exposeHeaders: '(.+)'/.exec(code) ?? [];
    const [sentence = ''] = /The page can read .*?\./s.exec(read('docs/clients.md')) ?? [];
    expect(codeWords(sentence)).to.have.members(exposed.split(','));
  });

  it('show diffs that apply to the files, in each tutorial', () => {
    for (const tutorial of tutorials.values()) expect(followed(tutorial, read)).to.not.be.empty;
  });
});

function brokenLinks(document: Markdown): string[] {
  const links = [...document.prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target) && !isThere(document, target))
    .map((target) => `${document.path}: ${target}`);
}

function isThere(document: Markdown, target: string): boolean {
  const [file = '', anchor] = target.split('#', 2);
  const path = file === '' ? document.path : normalize(join(dirname(document.path), file));
  if (!existsSync(join(root, path))) return false;
  if (anchor === undefined) return true;
  return anchorsOf(file === '' ? document : readDocument(root, path)).includes(anchor);
}

/** Words in backticks that begin with a folder of the project and do not exist. A tutorial creates its own files. */
function missingFiles({ path, prose, blocks }: Markdown): string[] {
  const made = blocks.map(({ file }) => file ?? '');
  return codeWords(prose)
    .filter((word) =>
      /^(?:packages|docs|test|benchmarks|scripts|deploy|\.ci|\.github)\/[\w./-]*$/.test(word),
    )
    .filter((word) => !existsSync(join(root, word)) && !made.some((it) => it.startsWith(word)))
    .map((word) => `${path}: ${word}`);
}

function unknownCommands({ path, prose, blocks }: Markdown): string[] {
  return [...codeWords(prose), ...shellLines(blocks)].flatMap((line) =>
    [...line.matchAll(/\b(npm run|(?<!\/)plant-store) ([a-z-]+)/g)]
      .filter(([, tool, word = '']) => !(tool === 'npm run' ? scripts : commands).includes(word))
      .filter(([all]) => line.startsWith(all) || /(?:^|[\s/=])(?:npm|plant-store) /.test(line))
      .map(([all]) => `${path}: ${all}`),
  );
}

function unknownVariables({ path, prose, blocks }: Markdown): string[] {
  const named = codeWords(prose).filter((word) => VARIABLE.test(word));
  const set = shellLines(blocks).flatMap(
    (line) => line.match(/(?<![\w$])[A-Z][A-Z0-9_]+(?==)/g) ?? [],
  );
  const diffs = blocks.filter(({ language }) => language === 'diff');
  return (
    [...named.map((word) => word.split('=', 1)[0] ?? ''), ...set]
      // OpenTelemetry's packages read the others.
      .filter((name) => !variables.has(name) && !name.startsWith('OTEL_'))
      .filter((name) => !diffs.some(({ text }) => new RegExp(`^\\+ +${name}:`, 'm').test(text)))
      .map((name) => `${path}: ${name}`)
  );
}

function codeWords(prose: string): string[] {
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

function shellLines(blocks: readonly CodeBlock[]): string[] {
  return blocks
    .filter(({ language }) => ['sh', 'console', 'bash'].includes(language))
    .flatMap(({ text }) => text.split('\n'));
}
