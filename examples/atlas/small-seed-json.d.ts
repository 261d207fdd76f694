/** What small-seed.ts writes before a Worker is bundled. */
declare module '*/small-seed.json' {
  const seed: {
    readonly countries: import('./models.ts').CountryValues[]
    /** Their countries are codes still. */
    readonly cities: import('./models.ts').CityValues[]
  }
  export default seed
}
