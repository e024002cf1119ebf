import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An introspection endpoint that knows the tokens it is given. */
export class FakeIssuer {
  /** What is known about each token. Every other token is not active. */
  readonly tokens = new Map<string, object>();
  /** Sent instead of what is known about the token. */
  reply: { status: number; body: string } | undefined;
  readonly #server = createServer(async (request, response) => {
    const { status, body } = this.reply ?? (await this.#introspect(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });

  static async start(): Promise<FakeIssuer> {
    const issuer = new FakeIssuer();
    issuer.#server.listen(0, '127.0.0.1');
    await once(issuer.#server, 'listening');
    return issuer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #introspect(request: IncomingMessage) {
    const [, credentials = ''] = request.headers.authorization?.split(' ') ?? [];
    const known = Buffer.from(credentials, 'base64').toString() === 'plant-store:a+secret%3A';
    const token = new URLSearchParams(await text(request)).get('token') ?? '';
    const introspection = this.tokens.get(token) ?? { active: false };
    return { status: known ? 200 : 401, body: JSON.stringify(introspection) };
  }
}
