// What the tests use of oidc-provider, which ships no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Details {
    readonly params: Readonly<Record<string, unknown>>
    readonly prompt: { readonly name: string }
    readonly session?: { readonly accountId: string }
  }

  // biome-ignore lint/style/noDefaultExport: that is how the package exports it.
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: new (of: {
      accountId: string
      clientId: string
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Details>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: object,
    ): Promise<void>
  }

  interface Configuration {
    readonly findAccount: (context: unknown, sub: string) => object
    readonly interactions: { url(context: unknown, interaction: { readonly uid: string }): string }
    readonly [name: string]: unknown
  }
}
