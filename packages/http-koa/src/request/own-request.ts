import { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Context, default as KoaApplication } from 'koa';
import { HttpError } from './failures.js';

/** For each chunk of a body, also one of a byte, a stream uses 500 bytes of memory. Smaller chunks are joined. */
const SMALL_CHUNK = 256;
const JOINED_BYTES = 1024;

/** A request of `createServer`. Only it has fast paths: an arrived body without a stream, a response in one write. */
export class OwnRequest extends IncomingMessage {
  /** Whether the reader of the body waits for its end: then small chunks can wait for others. */
  isReadWhole = false;
  #joined: Buffer | undefined;
  #joinedLength = 0;

  /** Node.js calls this with each chunk of the body, and with `null` after the last. Joins small chunks that can wait. */
  override push(chunk: Buffer | null): boolean {
    const canWait = this.isReadWhole || this.readableLength > 0;
    if (canWait && chunk !== null && chunk.length < SMALL_CHUNK) return this.#join(chunk);
    this.#pushJoined();
    return super.push(chunk);
  }

  override _read(size: number): void {
    this.#pushJoined();
    super._read(size);
  }

  /** Destroyed with the failure of its arrival, a request keeps its socket: its response reports the failure. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error instanceof HttpError) callback(this.listenerCount('error') > 0 ? error : null);
    else super._destroy(error, callback);
  }

  #join(chunk: Buffer): boolean {
    this.#joined ??= Buffer.alloc(JOINED_BYTES);
    this.#joinedLength += chunk.copy(this.#joined, this.#joinedLength);
    if (this.#joinedLength > JOINED_BYTES - SMALL_CHUNK) this.#pushJoined();
    return this.isReadWhole && this.readableLength === 0;
  }

  #pushJoined(): void {
    if (this.#joined === undefined) return;
    const joined = this.#joined.subarray(0, this.#joinedLength);
    this.#joined = undefined;
    this.#joinedLength = 0;
    super.push(joined);
  }
}

/** Runs all middleware of an application. */
type Steps = (context: Context) => Promise<void>;

/** What Koa's types leave out. */
type HandlingKoa = new () => KoaApplication & {
  handleRequest(context: Context, steps: Steps): Promise<void>;
};

/** Loaded with `require`, because instrumentation that is preloaded with `--import` alone patches no imported modules. */
export const Koa: typeof KoaApplication = createRequire(import.meta.url)('koa');

/**
 * A Koa application without third-party middleware, whose own middleware sends every response (`ctx.isDirect`). Without the
 * listeners of Koa's `handleRequest`, a create takes a tenth less CPU time. If Koa renames it, this class is only slower.
 */
export class FastKoa extends (Koa as unknown as HandlingKoa) {
  override handleRequest(context: Context, steps: Steps): Promise<void> {
    if (!(context.req instanceof OwnRequest)) return super.handleRequest(context, steps);
    context.isDirect = true;
    context.res.statusCode = 404;
    return steps(context).catch((error: Error) => context.onerror(error));
  }
}
