export { CertificateAuthority } from './certificate-authority.js';
export { CertificateFolder } from './certificate-folder.js';
