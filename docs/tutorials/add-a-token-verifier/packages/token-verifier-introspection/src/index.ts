export {
  type IntrospectionOptions,
  IntrospectionTokenVerifier,
} from './introspection-token-verifier.js';
