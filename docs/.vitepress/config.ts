import { config } from '../../scripts/site/config.ts'

export default config
