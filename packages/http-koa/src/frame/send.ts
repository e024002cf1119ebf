import type { ServerResponse } from 'node:http';
import type { Context, ParameterizedContext } from 'koa';
import { Koa } from './koa.js';
import type { PlantStoreState } from './request-state.js';
import { allFields, type Response } from './response.js';

/** A function that sends a response to the client. */
export type Send = (
  ctx: ParameterizedContext<PlantStoreState>,
  response: Response,
  requestId: string,
) => void;

/** Sends a response through Koa, so that outer middleware can read and change it. */
export const throughKoa: Send = (ctx, { status, fields, body }, requestId) => {
  ctx.status = status;
  for (let index = 0; index < fields.length; index += 2) {
    ctx.set(fields[index] ?? '', fields[index + 1] ?? '');
  }
  ctx.set('X-Request-Id', requestId);
  if (body !== undefined) ctx.body = body;
};

/** Sends a response at once and in one write, without Koa. For a {@link FastKoa} only. */
export const atOnce: Send = (ctx, response, requestId) => {
  sendResponse(ctx.res, response, requestId);
};

/** Sends a response unless headers were sent already. */
export function sendResponse(res: ServerResponse, response: Response, requestId: string): void {
  if (res.headersSent) return;
  res.writeHead(response.status, allFields(response, requestId));
  res.end(response.body);
}

/**
 * A Koa application whose outermost middleware sends every response. Used when there is no third-party middleware.
 *
 * Koa's `handleRequest` adds four listeners to every socket and removes them again, and its setters keep each header
 * in a map. Without them, a create takes a tenth less CPU time (measured interleaved, in memory, 50 connections). If
 * Koa renames its method, this class is only slower.
 */
export class FastKoa extends Koa {
  constructor() {
    super();
    this.context.respond = false;
  }

  handleRequest(context: Context, steps: (context: Context) => Promise<void>): Promise<void> {
    return steps(context).catch((error: Error) => context.onerror(error));
  }
}
