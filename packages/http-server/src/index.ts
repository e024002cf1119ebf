export { ArrivingRequest } from './arriving-request.js';
export { type Refusal, RequestError, type RequestErrorCode } from './request-error.js';
export {
  createServer,
  type DrainableServer,
  type RequestHandler,
  type ServerOptions,
} from './server.js';
