import { join } from 'node:path';

const path = (name: string) => join(import.meta.dirname, '../../../certificates', `${name}.pem`);

/** The paths of PEM files. Each has a certificate and its private key, except the CA's. */
export const certificates = {
  /** The CA that issued the others. */
  ca: path('authority'),
  /** For a server at 127.0.0.1. */
  server: path('server'),
  /** For the client `CN=plant-store,O=Gardens`. */
  client: path('client'),
  /** For the client `CN=stranger,O=Else`. */
  stranger: path('stranger'),
  /** For a server at 127.0.0.1 or a client, until 2021. */
  expired: path('expired'),
  /** For a client, issued by a CA that nobody trusts. */
  foreign: path('foreign'),
};
