export {
  CertificateAuthority,
  type CertificateOptions,
  type IssuedCertificate,
} from './certificate-authority.js';
