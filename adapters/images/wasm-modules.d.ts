/** What bundlers for Workers make of an imported `.wasm` file. */
declare module '*.wasm' {
  const module: WebAssembly.Module
  // biome-ignore lint/style/noDefaultExport: the form is the bundlers'
  export default module
}
