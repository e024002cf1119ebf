import { runInNewContext } from 'node:vm';
import { type Document, MongoClient } from 'mongodb';

const PASSWORD = 'typed at the prompt';

/** Runs a snippet for `mongosh`. Supports the functions that the documents use. */
export async function mongosh(uri: string, snippet: string): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  const database = (name: string) => ({
    createUser: ({ user, ...rest }: Document) =>
      client.db(name).command({ createUser: user, ...rest }),
    createRole: ({ role, ...rest }: Document) =>
      client.db(name).command({ createRole: role, ...rest }),
    runCommand: (command: Document) => client.db(name).command(command),
  });
  const admin = database('admin');
  const globals = {
    db: { getSiblingDB: database },
    rs: { initiate: (config: Document) => admin.runCommand({ replSetInitiate: config }) },
    passwordPrompt: () => PASSWORD,
  };
  await Promise.resolve(runInNewContext(snippet, globals)).finally(() => client.close());
}

/** Returns the user that a snippet creates and its password, for a connection string. */
export const typedCredentials = (user: string) => `${user}:${encodeURIComponent(PASSWORD)}`;
