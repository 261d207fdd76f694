/**
 * Packages that only some apps have.
 *
 * @module
 */

/**
 * Loads an optional package when it is needed; rejects if it isn't installed. Its name is no literal of an `import`, and
 * the comments tell bundlers to leave it: they would refuse to build an app without the package.
 */
export function optionalPackage<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)
}
