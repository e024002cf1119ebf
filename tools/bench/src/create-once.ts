import { CreatingConnection } from './creating-connection.js';

/** Creates one plant on a new connection. Rejects when that fails. */
export async function createOnce(url: string, token: string): Promise<void> {
  let connection: CreatingConnection | undefined;
  const stored = await new Promise<boolean>((resolve, reject) => {
    const onResponse = (_: number, outcome: boolean) => {
      connection?.end();
      resolve(outcome);
    };
    CreatingConnection.open(new URL(url), token, onResponse).then((opened) => {
      connection = opened;
      opened.send();
    }, reject);
  });
  if (!stored) throw new Error('the first create failed');
}
