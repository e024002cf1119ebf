import { rejects } from 'node:assert/strict';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { openInput, sizeOf } from '../../../src/commands/import/import-input.js';
import { UsageError } from '../../../src/commands/usage-error.js';
import { PlantFiles } from '../../plant-files.js';

describe('The input of an import', () => {
  const plantFiles = new PlantFiles();
  const { open } = files;

  after(() => plantFiles.remove());

  afterEach(() => openWith(open));

  function openWith(other: typeof open): void {
    Object.assign(files, { open: other });
    syncBuiltinESMExports();
  }

  it('is a file, whose size is known', async () => {
    const input = await openInput(await plantFiles.write(['a line\n']));
    expect(sizeOf(input)).to.equal(7);
    expect(await text(input.stream)).to.equal('a line\n');
  });

  it('has no known size when it is not a regular file', async () => {
    const input = await openInput('/dev/null');
    expect(sizeOf(input)).to.equal(undefined);
    input.stream.destroy();
  });

  it('is standard input when no file is named', async () => {
    const { stream } = await openInput(undefined);
    expect(stream).to.equal(process.stdin);
  });

  it('cannot be a directory, which is closed again', async () => {
    const opened: files.FileHandle[] = [];
    openWith(async (path) => {
      const handle = await open(path);
      opened.push(handle);
      return handle;
    });
    await rejects(
      openInput(plantFiles.folder),
      new UsageError(`import: expected a file, found the directory ${plantFiles.folder}`),
    );
    expect(opened.map(({ fd }) => fd)).to.deep.equal([-1]);
  });

  it('cannot be a file that does not exist', async () => {
    const path = plantFiles.newPath();
    await rejects(
      openInput(path),
      new UsageError(
        `import: expected a file that can be read (ENOENT: no such file or directory, open '${path}')`,
      ),
    );
  });
});
