import { journey } from './journey.ts'

export default {
  fetch: async (_: Request, { URL: url }: { readonly URL: string }) =>
    Response.json(await journey(url)),
}
