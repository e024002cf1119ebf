import type { Context } from 'koa';

/**
 * Responds with JSON. Koa would compare the object itself with every other kind of body, and load Node.js's `fetch` to do so.
 */
export function respondWithJson({ response }: Pick<Context, 'response'>, value: object): void {
  response.set('Content-Type', 'application/json; charset=utf-8');
  response.body = JSON.stringify(value);
}
