export type { Refusal } from './refusal.js';
export { RequestError, type RequestErrorCode } from './request-error.js';
export {
  createServer,
  type DrainableServer,
  type ServerOptions,
} from './server.js';
