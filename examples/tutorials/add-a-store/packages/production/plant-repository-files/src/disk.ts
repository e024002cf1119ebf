import { access, constants, link, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the store asks of a file system. A test passes one that fails. */
export interface Disk {
  /** Writes a new file. */
  write(path: string, text: string): Promise<void>;
  /** Makes the content of a file, or the names in a folder, survive a power cut. */
  flush(path: string): Promise<void>;
  /** Gives a file another name. Rejects with the code `EEXIST` if a file has that name. */
  link(path: string, name: string): Promise<void>;
  /** Removes a file, if there is one. */
  remove(path: string): Promise<void>;
  /** Rejects unless files can be written in the folder. */
  expectWritable(folder: string): Promise<void>;
}

/** The file system of Node.js. No test can cut its power: read `flush` twice. */
export const localDisk: Disk = {
  write: (path, text) => writeFile(path, text, { flag: 'wx' }),
  async flush(path) {
    const opened = await open(path);
    await opened.sync().finally(() => opened.close());
  },
  link,
  remove: (path) => rm(path, { force: true }),
  expectWritable: (folder) => access(join(folder, '/'), constants.W_OK),
};
