/** The exports of a module that was loaded when it was needed: esbuild's chunks have those of CommonJS as `default` alone. */
export function exportsOf<Module extends object>(found: Module): Module {
  const { default: whole } = found as { default?: Module }
  return whole && Object.keys(found).length === 1 ? whole : found
}
