import { runInNewContext } from 'node:vm';
import { type Document, MongoClient } from 'mongodb';

const PASSWORD = 'typed at the prompt';

/** Runs a snippet for `mongosh`. Supports the functions that the documents use. */
export async function mongosh(uri: string, snippet: string): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  // The shell waits for each statement.
  let latest: Promise<unknown> = Promise.resolve();
  const database = (name: string) => {
    const runCommand = (command: Document) => {
      latest = latest.then(() => client.db(name).command(command));
      return latest;
    };
    return {
      createUser: ({ user, ...rest }: Document) => runCommand({ createUser: user, ...rest }),
      createRole: ({ role, ...rest }: Document) => runCommand({ createRole: role, ...rest }),
    };
  };
  runInNewContext(snippet, {
    db: { getSiblingDB: database },
    passwordPrompt: () => PASSWORD,
  });
  await latest.finally(() => client.close());
}

/** Returns the user that a snippet creates and its password, for a connection string. */
export const typedCredentials = (user: string) => `${user}:${encodeURIComponent(PASSWORD)}`;
