/** The build without Java, native binaries and worker threads. */
declare module 'recheck/lib/browser.js' {
  export { checkSync, type Diagnostics } from 'recheck'
}
