/** What small-seed.ts writes before a Worker is bundled; the cities' countries are codes still. */
declare module '*/small-seed.json' {
  const seed: { readonly countries: object[]; readonly cities: object[] }
  // biome-ignore lint/style/noDefaultExport: JSON modules have no other
  export default seed
}
