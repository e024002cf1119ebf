import { Plain } from './base.js';
export class Rung1 extends Plain {
  constructor(uri, collection) {
    super(uri, collection, { retryWrites: false, socketTimeoutMS: 10_000 });
  }
}
