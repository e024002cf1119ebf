import { Plain } from './base.js';
/** The driver retries once. */
export class Rung2 extends Plain {
  constructor(uri, collection) {
    super(uri, collection, { socketTimeoutMS: 7_000 });
  }
}
