import { api } from '../api.server'

const handle = ({ request }: { request: Request }) => api.handle(request)

/** Reads go to the loader, writes to the action. */
export { handle as action, handle as loader }
