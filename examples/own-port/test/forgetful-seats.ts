import { HttpSeats } from '../src/http-seats.js';

/** Takes a seat for another guest's when it did not reserve it just now. */
export class ForgetfulSeats extends HttpSeats {
  override async reserve(seat: string, guest: string): Promise<boolean> {
    return (await this.send(seat, { method: 'PUT', body: guest })).status === 201;
  }
}
