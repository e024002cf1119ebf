/** Why a server refuses a request before its handler, or breaks off a body that the handler reads. */
export type RequestErrorCode = 'MALFORMED_REQUEST' | 'HEADERS_TOO_LARGE' | 'REQUEST_TIMEOUT';

/** The status of each, and its message unless a rule is named. */
const ERRORS: Readonly<Record<RequestErrorCode, readonly [status: number, message: string]>> = {
  MALFORMED_REQUEST: [400, 'the request is not valid HTTP/1.1 (RFC 9112)'],
  HEADERS_TOO_LARGE: [431, 'the headers are too large'],
  REQUEST_TIMEOUT: [408, 'the request did not arrive in time'],
};

/** The request breaks a rule of HTTP, or a limit of the server. `cause` is Node.js's error, if there is one. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;
  readonly status: number;

  constructor(code: RequestErrorCode, rule?: string, options?: ErrorOptions) {
    const [status, message] = ERRORS[code];
    super(rule ?? message, options);
    this.code = code;
    this.status = status;
  }
}

/** The codes for Node.js's errors. Any other means a malformed request, or a socket that can send no response. */
const CODES: ReadonlyMap<string, RequestErrorCode> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
]);

/** Returns the error for one of Node.js. Those of its parser have a reason, which names the broken rule and quotes nothing. */
export function requestErrorOf(
  cause: NodeJS.ErrnoException & { readonly reason?: string },
): RequestError {
  const code = CODES.get(cause.code ?? '') ?? 'MALFORMED_REQUEST';
  const [, message] = ERRORS[code];
  const isRule = code === 'MALFORMED_REQUEST' && cause.reason !== undefined;
  return new RequestError(code, isRule ? `${message}: ${cause.reason}` : message, { cause });
}
