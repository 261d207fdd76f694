/** The parts of an OpenAPI document that fieldgate writes (OpenAPI 3.2.0, and 3.1.1). */

/** A JSON Schema (draft 2020-12). */
export interface Schema {
  readonly [keyword: string]: unknown
}

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly style?: 'form'
  readonly explode?: boolean
  readonly schema: Schema
}

/** A body, by media type. */
export type Content = Readonly<
  Record<
    string,
    {
      readonly schema: Schema
      readonly example?: unknown
      readonly encoding?: Readonly<Record<string, object>>
    }
  >
>

/** A header of a response. */
export interface Header {
  readonly description: string
  readonly schema: Schema
}

/** A response, or the name of one in `components`. */
export type ResponseObject =
  | {
      readonly description: string
      readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>
      readonly content?: Content
    }
  | { readonly $ref: string }

/** The responses of an operation by status, `2XX` and `default` included. */
export type Responses = Readonly<Record<string, ResponseObject>>

/** Which security schemes open an operation; an empty one means that none is needed. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[]

/** One operation. */
export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: readonly string[]
  /** What the route is for, and the roles that each guard demands one of. */
  readonly 'x-fieldgate': object
  readonly security: Security
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Responses
}

/** The operations of a path by method, in lower case. */
export type PathItem = Readonly<Record<string, Operation>>

/** A whole document. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, ResponseObject>>
    readonly headers: Readonly<Record<string, Header>>
    readonly securitySchemes?: Readonly<Record<string, object>>
  }
}
