import { readFileSync } from 'node:fs';
import { run } from '@plant-store/service-process';
import { expect } from 'chai';

const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');

describe('docs/configuration.md', () => {
  it('has every command that --help lists, and no other', async () => {
    const help = run(['--help']);
    expect(await help.ended).to.equal(0);
    const listed = [...help.stdout().matchAll(/^ {2}(\S+) {2,}/gm)].map(([, word]) => word);
    const described = [...page.matchAll(/^\| `plant-store \[?([\w-]+)/gm)].map(([, word]) => word);
    expect(described).to.have.members(listed);
  });

  it('shows the problems as they are printed', async () => {
    const [, shown = ''] = /^(plant-store: invalid[\s\S]*?)```/m.exec(page) ?? [];
    const service = run([], { PORT: '70000', MONGO_URI: 'mongodb://127.0.0.1' });
    expect(await service.ended).to.equal(2);
    expect(service.stderr()).to.equal(shown);
  });
});
