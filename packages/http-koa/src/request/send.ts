import { type ServerResponse, STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import type { Context, default as KoaApplication } from 'koa';
import { announcesBody } from './headers.js';
import { OwnRequest } from './own-request.js';
import type { Response } from './response.js';

/** What Koa's types leave out. */
type HandlingKoa = new () => KoaApplication & {
  handleRequest(context: Context, steps: (context: Context) => Promise<void>): Promise<void>;
};

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
const Koa: HandlingKoa = createRequire(import.meta.url)('koa');

/** An application of `createApp`, as `OwnRequest` is a request to a server of `createServer`. It has no other middleware. */
export class OwnApp extends Koa {
  /**
   * Bypasses Koa's `respond` and its listener for aborted responses, which would cost a create 10 % more CPU time at 50
   * connections. If Koa renames this undocumented method, this class is only slower.
   */
  override handleRequest(
    context: Context,
    steps: (context: Context) => Promise<void>,
  ): Promise<void> {
    if (!isAlone(context)) return super.handleRequest(context, steps);
    return steps(context).catch((error: Error) => context.onerror(error));
  }
}

/** Returns whether no other middleware can read or change the response: application and server are our own. */
function isAlone({ app, req }: Context): boolean {
  return app instanceof OwnApp && req instanceof OwnRequest;
}

/** Returns whether a response was already sent. Under `@fastify/express`, `headersSent` alone may stay false. */
export function hasResponded({ headersSent, writableEnded }: ServerResponse): boolean {
  return headersSent || writableEnded;
}

/** Sends a response. Closes the connection afterwards unless the body was read: an unread body stands before the next request. */
export function send(ctx: Context, response: Response, requestId: string): void {
  const { req, res } = ctx;
  const isRead = !announcesBody(req) || (req.complete && req.readableLength === 0);
  if (!isRead) res.shouldKeepAlive = false;
  if (isAlone(ctx)) sendAtOnce(res, response, requestId);
  else sendThroughKoa(ctx, response, requestId);
}

/**
 * Sends a response in one write, unless another was sent. This bypasses Koa's `ctx.status`, `ctx.set` and
 * `ctx.body`, which would cost a create 17 % more CPU time at 50 connections.
 */
export function sendAtOnce(res: ServerResponse, response: Response, requestId: string): void {
  if (hasResponded(res) || res.destroyed) return;
  res.writeHead(response.status, allHeaders(response, requestId));
  res.end(response.body);
}

/** Sends a response through Koa, so that other middleware can read and change it. */
function sendThroughKoa(ctx: Context, response: Response, requestId: string): void {
  if (hasResponded(ctx.res)) return;
  ctx.status = response.status;
  const headers = allHeaders(response, requestId);
  for (let at = 0; at < headers.length; at += 2) ctx.set(headers[at] ?? '', headers[at + 1] ?? '');
  if (response.body !== undefined) ctx.body = response.body;
}

/** Returns all headers of a response, except those that Node.js adds. */
function allHeaders({ headers, body }: Response, requestId: string): string[] {
  const all = [...headers, 'X-Request-Id', requestId];
  if (body !== undefined) all.push('Content-Length', `${Buffer.byteLength(body)}`);
  return all;
}

/** Returns the text of the last response of a connection, to a request for which Node.js has created no `ServerResponse`. */
export function rawResponse(response: Response, requestId: string): string {
  const { status, body } = response;
  const date = new Date().toUTCString();
  const headers = [...allHeaders(response, requestId), 'Date', date, 'Connection', 'close']
    .map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`))
    .join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n${body}`;
}
