import { MongoServerError } from 'mongodb';

/** The code of a server's refusal because the rights do not suffice. */
export const UNAUTHORIZED = 13;

/** Whether a server has answered with this code. */
export function hasServerCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
